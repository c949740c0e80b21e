// SPDX-License-Identifier: GPL-2.0
/*
 * vdisk: block devices of which a process of the host is the device.
 *
 * Each device is a connection to a model process over a unix socket. That process holds the
 * contents and says when a request completes. It is asked synchronously: while it answers, this
 * kernel stands still, so that under time-travel=inf-cpu an answer takes no virtual time, however
 * long it takes. kernel/PROTOCOL.md of fsarena describes the messages; version 4 is spoken here.
 *
 * A device may answer at once: the reply to a request is its completion, and no timer is needed.
 * Nothing but this driver changes its contents, so that small reads are made larger and what they
 * brought is kept: a log that is read block by block costs one message in eight.
 *
 * A device may instead be mapped: its contents are a file of the host. Pages that are written are
 * copies of this kernel's own; nobody is asked for a sector, and there is no queue.
 *
 * Both may have further contents: each write of a line to /sys/block/vdiskN/next_contents, while
 * nobody has the device open, puts the next ones into the place of these and of all that was
 * written.
 *
 * vdisk.socket=PATH,PATH,... connects /dev/vdisk0, /dev/vdisk1, ... Relative paths start at the
 * working directory of this kernel's process.
 */
#define pr_fmt(fmt) "vdisk: " fmt

#include <linux/bitmap.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/hrtimer.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <os.h>
#include "vdisk.h"

/* Until 6.8 limits are set one by one; from 6.11 on they and the features come with the disk. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define LIMITS_COME_WITH_DISK 1
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
#error "vdisk: sources of Linux 6.9 and 6.10 are not supported; take 6.8 or older, 6.11 or newer"
#endif

/* Where the page cache of a device hangs. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define BD_MAPPING	bd_mapping
#else
#define BD_MAPPING	bd_inode->i_mapping
#endif

#define DEVICES_MAX	32
#define DEPTH_MAX	256
/* Requests up to this size are sent by one system call. */
#define BUFFER_BYTES	(64 * 1024)
/* What is kept of a device that answers at once: aligned windows, each in the one place for it. */
#define WINDOW_BYTES	(32 * 1024)
#define WINDOW_SECTORS	(WINDOW_BYTES >> SECTOR_SHIFT)
#define WINDOWS		8
#define NO_WINDOW	(~0ull)
/* Of a mapped device: which parts were written is known so exactly. */
#define CHUNK_BYTES	(64 * 1024)

#define MAGIC		0x314b534944565346ull	/* "FSVDISK1" in little-endian order */
#define VERSION		4
#define NO_EVENT	(~0ull)

enum op {
	OP_HELLO = 0, OP_POLL = 1, OP_READ = 2, OP_WRITE = 3,
	OP_FLUSH = 4, OP_DISCARD = 5, OP_WRITE_ZEROES = 6, OP_NEXT = 7,
};

/* Flags of a request. */
#define FLAG_FUA	(1u << 0)
#define FLAG_SYNC	(1u << 1)
#define FLAG_METADATA	(1u << 2)
#define FLAG_BACKGROUND	(1u << 3)
#define FLAG_READAHEAD	(1u << 4)

/* Features of a device. */
#define FEATURE_VOLATILE_CACHE	(1u << 0)
#define FEATURE_FUA		(1u << 1)
#define FEATURE_ROTATIONAL	(1u << 2)
#define FEATURE_AT_ONCE		(1u << 3)
#define FEATURE_MAPPED		(1u << 4)

/* How a request ended. */
enum status { DONE = 0, IO_ERROR = 1, MEDIUM_ERROR = 2, NO_SPACE = 3, UNSUPPORTED = 4 };

/* To the model process; a write is followed by its data. */
struct message {
	__le32 op;
	__le32 tag;
	__le64 now_ns;
	__le64 sector;
	__le64 bytes;
	__le32 flags;
	__le32 reserved;
} __packed;

/* From it, one for each message; followed by this many completions. */
struct reply {
	__le64 next_event_ns;
	__le32 completions;
	__le32 error;
} __packed;

/* A read that is done is followed by its data. */
struct completion_entry {
	__le32 tag;
	__le32 status;
	__le32 data_bytes;
	__le32 reserved;
} __packed;

/* Follows the reply to OP_HELLO. */
struct description {
	__le64 magic;
	__le32 version;
	__le32 queue_depth;
	__le64 capacity_sectors;
	__le32 logical_block_bytes;
	__le32 physical_block_bytes;
	__le32 transfer_max_bytes;
	__le32 segments_max;
	__le32 discard_max_sectors;
	__le32 discard_granularity_bytes;
	__le32 write_zeroes_max_sectors;
	__le32 features;
} __packed;

struct vdisk {
	struct blk_mq_tag_set set;
	struct gendisk *disk;
	struct hrtimer timer;
	spinlock_t lock;
	const char *path;
	int fd;
	u32 depth;
	/* Of what is sent, or of a reply: there is never more than one on its way. */
	u8 *buffer;
	/* What of the buffer was received and not taken yet. */
	size_t received, received_end;
	u64 capacity_sectors;
	/* Contents of windows of a device that answers at once; else NULL. */
	u8 *windows;
	/* Which window is in each place: its first sector by WINDOW_SECTORS. */
	u64 window_number[WINDOWS];
	/* The contents of a mapped device; else NULL. */
	u8 *map;
	/* Which of its chunks were written. */
	unsigned long *written;
	/* Whether more than contents is mapped: zeros. */
	bool has_zeros;
	/* Requests that the model process has, by tag. */
	struct request *outstanding[DEPTH_MAX];
	/* Those that it has finished, until the lock is given back. */
	struct request *finished[DEPTH_MAX];
	blk_status_t status[DEPTH_MAX];
};

static char *socket[DEVICES_MAX];
static int sockets;
module_param_array(socket, charp, &sockets, 0444);
MODULE_PARM_DESC(socket, "sockets of the model processes, one for each device");

/* What is written or read only in part has no meaning any more. */
static void __noreturn model_is_gone(struct vdisk *d, int result)
{
	if (result)
		panic("vdisk: %s: error %d", d->path, -result);
	panic("vdisk: %s: the model process has ended", d->path);
}

static void __noreturn protocol_broken(struct vdisk *d, const char *what, u64 value)
{
	panic("vdisk: %s: the model process broke the protocol: %s %llu", d->path, what, value);
}

static void send_all(struct vdisk *d, const void *from, size_t bytes)
{
	while (bytes) {
		int sent = os_write_file(d->fd, from, bytes);

		if (sent == -EINTR || sent == -EAGAIN)
			continue;
		if (sent <= 0)
			model_is_gone(d, sent);
		from += sent;
		bytes -= sent;
	}
}

/* What has come is read at once: a reply and the data behind it are one call. */
static void receive_all(struct vdisk *d, void *to, size_t bytes)
{
	while (bytes) {
		size_t part = min_t(size_t, bytes, d->received_end - d->received);
		bool is_large = bytes >= BUFFER_BYTES;
		int got;

		if (part) {
			memcpy(to, d->buffer + d->received, part);
			d->received += part;
			to += part;
			bytes -= part;
			continue;
		}
		got = os_read_file(d->fd, is_large ? to : d->buffer, is_large ? bytes : BUFFER_BYTES);
		if (got == -EINTR || got == -EAGAIN)
			continue;
		if (got <= 0)
			model_is_gone(d, got);
		if (is_large) {
			to += got;
			bytes -= got;
		} else {
			d->received = 0;
			d->received_end = got;
		}
	}
}

static void send_write(struct vdisk *d, const struct message *m, struct request *rq)
{
	bool fits = sizeof(*m) + blk_rq_bytes(rq) <= BUFFER_BYTES;
	size_t used = sizeof(*m);
	struct req_iterator it;
	struct bio_vec part;

	memcpy(d->buffer, m, sizeof(*m));
	if (!fits)
		send_all(d, d->buffer, used);
	rq_for_each_segment(part, rq, it) {
		void *from = page_address(part.bv_page) + part.bv_offset;

		if (fits) {
			memcpy(d->buffer + used, from, part.bv_len);
			used += part.bv_len;
		} else {
			send_all(d, from, part.bv_len);
		}
	}
	if (fits)
		send_all(d, d->buffer, used);
}

static void receive_read(struct vdisk *d, struct request *rq)
{
	struct req_iterator it;
	struct bio_vec part;

	rq_for_each_segment(part, rq, it)
		receive_all(d, page_address(part.bv_page) + part.bv_offset, part.bv_len);
}

static void receive_reply(struct vdisk *d, struct reply *r)
{
	receive_all(d, r, sizeof(*r));
	if (r->error)
		protocol_broken(d, "it refused a message with error", le32_to_cpu(r->error));
}

static void arm(struct vdisk *d, u64 next_event_ns)
{
	if (next_event_ns == NO_EVENT)
		return;
	/* A time that has passed is one that has come. */
	next_event_ns = min_t(u64, next_event_ns, KTIME_MAX);
	hrtimer_start(&d->timer, ns_to_ktime(next_event_ns), HRTIMER_MODE_ABS_HARD);
}

static int op_of(const struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		return OP_READ;
	case REQ_OP_WRITE:
		return OP_WRITE;
	case REQ_OP_FLUSH:
		return OP_FLUSH;
	case REQ_OP_DISCARD:
		return OP_DISCARD;
	case REQ_OP_WRITE_ZEROES:
		return OP_WRITE_ZEROES;
	default:
		return -1;
	}
}

static u32 flags_of(const struct request *rq)
{
	u32 flags = 0;

	if (rq->cmd_flags & REQ_FUA)
		flags |= FLAG_FUA;
	if (rq->cmd_flags & REQ_SYNC)
		flags |= FLAG_SYNC;
	if (rq->cmd_flags & REQ_META)
		flags |= FLAG_METADATA;
	if (rq->cmd_flags & REQ_BACKGROUND)
		flags |= FLAG_BACKGROUND;
	if (rq->cmd_flags & REQ_RAHEAD)
		flags |= FLAG_READAHEAD;
	return flags;
}

static blk_status_t status_of(struct vdisk *d, u32 status)
{
	switch (status) {
	case DONE:
		return BLK_STS_OK;
	case IO_ERROR:
		return BLK_STS_IOERR;
	case MEDIUM_ERROR:
		return BLK_STS_MEDIUM;
	case NO_SPACE:
		return BLK_STS_NOSPC;
	case UNSUPPORTED:
		return BLK_STS_NOTSUPP;
	default:
		protocol_broken(d, "status", status);
	}
}

/* What a request changes is not kept. */
static void forget(struct vdisk *d, u64 sector, u64 bytes)
{
	u64 first = sector / WINDOW_SECTORS;
	u64 last = (sector + (bytes >> SECTOR_SHIFT) - 1) / WINDOW_SECTORS;
	u32 i;

	for (i = 0; bytes && i < WINDOWS; i++)
		if (d->window_number[i] >= first && d->window_number[i] <= last)
			d->window_number[i] = NO_WINDOW;
}

/* The completion in the reply to a request of a device that answers at once. */
static blk_status_t completed_at_once(struct vdisk *d, u32 tag, u32 expected)
{
	struct completion_entry e;
	blk_status_t status;
	struct reply r;

	receive_reply(d, &r);
	if (le32_to_cpu(r.completions) != 1)
		protocol_broken(d, "completions of a request that is done at once:",
				le32_to_cpu(r.completions));
	receive_all(d, &e, sizeof(e));
	if (le32_to_cpu(e.tag) != tag)
		protocol_broken(d, "completion of another tag:", le32_to_cpu(e.tag));
	status = status_of(d, le32_to_cpu(e.status));
	if (le32_to_cpu(e.data_bytes) != (status ? 0 : expected))
		protocol_broken(d, "bytes of data:", le32_to_cpu(e.data_bytes));
	return status;
}

static void copy_from_window(struct request *rq, const u8 *from)
{
	struct req_iterator it;
	struct bio_vec part;

	rq_for_each_segment(part, rq, it) {
		memcpy(page_address(part.bv_page) + part.bv_offset, from, part.bv_len);
		from += part.bv_len;
	}
}

/* A read that lies in one window. */
static blk_status_t read_window(struct vdisk *d, struct message *m, struct request *rq)
{
	u64 number = blk_rq_pos(rq) / WINDOW_SECTORS;
	u64 first = number * WINDOW_SECTORS;
	u32 place = number % WINDOWS;
	u8 *data = d->windows + place * WINDOW_BYTES;
	u32 bytes = min_t(u64, WINDOW_SECTORS, d->capacity_sectors - first) << SECTOR_SHIFT;
	blk_status_t status;

	if (d->window_number[place] != number) {
		d->window_number[place] = NO_WINDOW;
		m->sector = cpu_to_le64(first);
		m->bytes = cpu_to_le64(bytes);
		send_all(d, m, sizeof(*m));
		status = completed_at_once(d, rq->tag, bytes);
		if (status)
			return status;
		receive_all(d, data, bytes);
		d->window_number[place] = number;
	}
	copy_from_window(rq, data + ((blk_rq_pos(rq) - first) << SECTOR_SHIFT));
	return BLK_STS_OK;
}

static bool is_in_a_window(const struct request *rq)
{
	u64 last = blk_rq_pos(rq) + blk_rq_sectors(rq) - 1;

	return blk_rq_sectors(rq) && blk_rq_pos(rq) / WINDOW_SECTORS == last / WINDOW_SECTORS;
}

/* Carries a request out; the lock is held. */
static blk_status_t do_at_once(struct vdisk *d, int op, struct message *m, struct request *rq)
{
	blk_status_t status;

	if (op == OP_READ && is_in_a_window(rq))
		return read_window(d, m, rq);
	if (op != OP_READ && op != OP_FLUSH)
		forget(d, blk_rq_pos(rq), blk_rq_bytes(rq));
	if (op == OP_WRITE)
		send_write(d, m, rq);
	else
		send_all(d, m, sizeof(*m));
	status = completed_at_once(d, rq->tag, op == OP_READ ? blk_rq_bytes(rq) : 0);
	if (op == OP_READ && !status)
		receive_read(d, rq);
	return status;
}

static blk_status_t vdisk_queue_rq(struct blk_mq_hw_ctx *hctx,
				   const struct blk_mq_queue_data *bd)
{
	struct vdisk *d = hctx->queue->queuedata;
	struct request *rq = bd->rq;
	int op = op_of(rq);
	struct message m = {
		.op = cpu_to_le32(op),
		.tag = cpu_to_le32(rq->tag),
		.flags = cpu_to_le32(flags_of(rq)),
	};
	blk_status_t status;
	unsigned long irq;
	struct reply r;

	if (op < 0 || rq->tag < 0 || rq->tag >= d->depth)
		return BLK_STS_NOTSUPP;
	if (op != OP_FLUSH) {
		m.sector = cpu_to_le64(blk_rq_pos(rq));
		m.bytes = cpu_to_le64(blk_rq_bytes(rq));
	}
	blk_mq_start_request(rq);
	spin_lock_irqsave(&d->lock, irq);
	m.now_ns = cpu_to_le64(ktime_get_ns());
	if (d->windows) {
		status = do_at_once(d, op, &m, rq);
		spin_unlock_irqrestore(&d->lock, irq);
		/* The lock is free: an ending request may submit the next. */
		blk_mq_end_request(rq, status);
		return BLK_STS_OK;
	}
	d->outstanding[rq->tag] = rq;
	if (op == OP_WRITE)
		send_write(d, &m, rq);
	else
		send_all(d, &m, sizeof(m));
	receive_reply(d, &r);
	if (r.completions)
		protocol_broken(d, "completions of a submission:", le32_to_cpu(r.completions));
	arm(d, le64_to_cpu(r.next_event_ns));
	spin_unlock_irqrestore(&d->lock, irq);
	return BLK_STS_OK;
}

/* One completion, and the data of a read. */
static void receive_completion(struct vdisk *d, u32 at)
{
	struct completion_entry e;
	struct request *rq;
	u32 tag, expected;

	receive_all(d, &e, sizeof(e));
	tag = le32_to_cpu(e.tag);
	if (tag >= d->depth || !d->outstanding[tag])
		protocol_broken(d, "completion of a tag that is not outstanding:", tag);
	rq = d->outstanding[tag];
	d->status[at] = status_of(d, le32_to_cpu(e.status));
	expected = op_of(rq) == OP_READ && !d->status[at] ? blk_rq_bytes(rq) : 0;
	if (le32_to_cpu(e.data_bytes) != expected)
		protocol_broken(d, "bytes of data:", le32_to_cpu(e.data_bytes));
	if (expected)
		receive_read(d, rq);
	d->outstanding[tag] = NULL;
	d->finished[at] = rq;
}

static enum hrtimer_restart vdisk_timer(struct hrtimer *timer)
{
	struct vdisk *d = container_of(timer, struct vdisk, timer);
	struct message m = { .op = cpu_to_le32(OP_POLL) };
	struct reply r;
	u32 i, count;

	spin_lock(&d->lock);
	m.now_ns = cpu_to_le64(ktime_get_ns());
	send_all(d, &m, sizeof(m));
	receive_reply(d, &r);
	count = le32_to_cpu(r.completions);
	if (count > d->depth)
		protocol_broken(d, "completions:", count);
	for (i = 0; i < count; i++)
		receive_completion(d, i);
	arm(d, le64_to_cpu(r.next_event_ns));
	spin_unlock(&d->lock);
	/*
	 * The lock is free: an ending request may submit the next. This timer cannot fire before
	 * it returns, so that the list is its own.
	 */
	for (i = 0; i < count; i++)
		blk_mq_end_request(d->finished[i], d->status[i]);
	return HRTIMER_NORESTART;
}

static u64 chunks(const struct vdisk *d)
{
	return DIV_ROUND_UP_ULL(d->capacity_sectors << SECTOR_SHIFT, CHUNK_BYTES);
}

/* A mapped device will not show these bytes again. */
static void note_written(struct vdisk *d, u64 from, u64 bytes)
{
	u64 first = from / CHUNK_BYTES;

	if (bytes)
		bitmap_set(d->written, first, (from + bytes - 1) / CHUNK_BYTES - first + 1);
}

/* Makes all contents of a mapped device those of its file. */
static void make_map(struct vdisk *d)
{
	unsigned long first, end;
	int error = 0;

	if (!d->map || d->has_zeros) {
		error = vdisk_map(d->path, d->capacity_sectors << SECTOR_SHIFT, (void **)&d->map);
	} else {
		for_each_set_bitrange(first, end, d->written, chunks(d)) {
			u64 from = (u64)first * CHUNK_BYTES;
			u64 to = min_t(u64, (u64)end * CHUNK_BYTES,
				       d->capacity_sectors << SECTOR_SHIFT);

			error = error ?: vdisk_forget(d->map + from, to - from);
		}
	}
	/* Without them there is nothing that could be said. */
	if (error)
		panic("vdisk: %s: its contents cannot be mapped: error %d", d->path, -error);
	bitmap_zero(d->written, chunks(d));
	d->has_zeros = false;
}

/* Bytes of a mapped device become zeros. */
static void make_zeros(struct vdisk *d, u64 from, u64 bytes)
{
	int error = vdisk_zero(d->map + from, bytes);

	if (error)
		panic("vdisk: %s: no memory for zeros: error %d", d->path, -error);
	d->has_zeros = true;
}

/* Carries out what is asked of a mapped device: nobody has to wait, and no queue is needed. */
static void vdisk_submit_bio(struct bio *bio)
{
	struct vdisk *d = bio->bi_bdev->bd_disk->private_data;
	u64 from = bio->bi_iter.bi_sector << SECTOR_SHIFT;
	u8 *at = d->map + from;
	struct bvec_iter it;
	struct bio_vec part;

	switch (bio_op(bio)) {
	case REQ_OP_READ:
		bio_for_each_segment(part, bio, it) {
			memcpy(page_address(part.bv_page) + part.bv_offset, at, part.bv_len);
			at += part.bv_len;
		}
		break;
	case REQ_OP_WRITE:
		note_written(d, from, bio->bi_iter.bi_size);
		bio_for_each_segment(part, bio, it) {
			memcpy(at, page_address(part.bv_page) + part.bv_offset, part.bv_len);
			at += part.bv_len;
		}
		break;
	case REQ_OP_DISCARD:
	case REQ_OP_WRITE_ZEROES:
		make_zeros(d, from, bio->bi_iter.bi_size);
		break;
	case REQ_OP_FLUSH:
		break;
	default:
		bio->bi_status = BLK_STS_NOTSUPP;
	}
	bio_endio(bio);
}

static const struct blk_mq_ops vdisk_mq_ops = { .queue_rq = vdisk_queue_rq };
static const struct block_device_operations vdisk_fops = { .owner = THIS_MODULE };
static const struct block_device_operations vdisk_mapped_fops = {
	.owner = THIS_MODULE,
	.submit_bio = vdisk_submit_bio,
};

static void forget_all(struct vdisk *d)
{
	u32 i;

	for (i = 0; i < WINDOWS; i++)
		d->window_number[i] = NO_WINDOW;
}

static int make_windows(struct vdisk *d)
{
	d->windows = kmalloc(WINDOWS * WINDOW_BYTES, GFP_KERNEL);
	if (!d->windows)
		return -ENOMEM;
	forget_all(d);
	return 0;
}

static int take_next_contents(struct vdisk *d)
{
	struct message m = { .op = cpu_to_le32(OP_NEXT) };
	struct reply r;

	if (!d->map && !d->windows)
		return -EOPNOTSUPP;
	/* What the page cache has of it goes with the last who closes it. */
	if (disk_openers(d->disk) || d->disk->part0->BD_MAPPING->nrpages)
		return -EBUSY;
	m.now_ns = cpu_to_le64(ktime_get_ns());
	send_all(d, &m, sizeof(m));
	receive_reply(d, &r);
	if (d->map)
		make_map(d);
	else
		forget_all(d);
	return 0;
}

static ssize_t next_contents_store(struct device *dev, struct device_attribute *attr,
				   const char *text, size_t bytes)
{
	struct vdisk *d = dev_to_disk(dev)->private_data;
	int error;

	mutex_lock(&d->disk->open_mutex);
	error = take_next_contents(d);
	mutex_unlock(&d->disk->open_mutex);
	return error ?: bytes;
}
static DEVICE_ATTR_WO(next_contents);

static struct attribute *vdisk_attrs[] = { &dev_attr_next_contents.attr, NULL };
ATTRIBUTE_GROUPS(vdisk);

static int greet(struct vdisk *d, struct description *about)
{
	struct message m = { .op = cpu_to_le32(OP_HELLO), .bytes = cpu_to_le64(VERSION) };
	struct reply r;
	u32 depth, transfer_min;
	bool is_at_once, is_mapped;

	send_all(d, &m, sizeof(m));
	receive_reply(d, &r);
	receive_all(d, about, sizeof(*about));
	if (le64_to_cpu(about->magic) != MAGIC || le32_to_cpu(about->version) != VERSION) {
		pr_err("%s: speaks version %u of the protocol, and this kernel %u\n", d->path,
		       le32_to_cpu(about->version), VERSION);
		return -EPROTO;
	}
	depth = le32_to_cpu(about->queue_depth);
	is_mapped = le32_to_cpu(about->features) & FEATURE_MAPPED;
	is_at_once = !is_mapped && (le32_to_cpu(about->features) & FEATURE_AT_ONCE);
	transfer_min = is_at_once ? WINDOW_BYTES : PAGE_SIZE;
	if (!depth || depth > DEPTH_MAX || !about->capacity_sectors || !about->segments_max ||
	    !is_power_of_2(le32_to_cpu(about->logical_block_bytes)) ||
	    le32_to_cpu(about->logical_block_bytes) < SECTOR_SIZE ||
	    le32_to_cpu(about->logical_block_bytes) > PAGE_SIZE ||
	    le32_to_cpu(about->transfer_max_bytes) < transfer_min) {
		pr_err("%s: describes a device that cannot be\n", d->path);
		return -EINVAL;
	}
	d->depth = depth;
	d->capacity_sectors = le64_to_cpu(about->capacity_sectors);
	if (is_mapped) {
		d->written = kvcalloc(BITS_TO_LONGS(chunks(d)), sizeof(long), GFP_KERNEL);
		if (!d->written)
			return -ENOMEM;
		make_map(d);
	}
	return is_at_once ? make_windows(d) : 0;
}

#ifdef LIMITS_COME_WITH_DISK
static struct gendisk *make_disk(struct vdisk *d, const struct description *about)
{
	u32 features = le32_to_cpu(about->features);
	struct queue_limits limits = {
		.logical_block_size = le32_to_cpu(about->logical_block_bytes),
		.physical_block_size = le32_to_cpu(about->physical_block_bytes),
		.max_hw_sectors = le32_to_cpu(about->transfer_max_bytes) >> SECTOR_SHIFT,
		.max_segments = min_t(u32, le32_to_cpu(about->segments_max), USHRT_MAX),
		.max_hw_discard_sectors = le32_to_cpu(about->discard_max_sectors),
		.discard_granularity = le32_to_cpu(about->discard_granularity_bytes),
		.max_write_zeroes_sectors = le32_to_cpu(about->write_zeroes_max_sectors),
	};

	if (features & FEATURE_VOLATILE_CACHE)
		limits.features |= BLK_FEAT_WRITE_CACHE;
	if (features & FEATURE_FUA)
		limits.features |= BLK_FEAT_FUA;
	if (features & FEATURE_ROTATIONAL)
		limits.features |= BLK_FEAT_ROTATIONAL;
	if (d->map)
		return blk_alloc_disk(&limits, NUMA_NO_NODE);
	return blk_mq_alloc_disk(&d->set, &limits, d);
}
#else
static struct gendisk *make_disk(struct vdisk *d, const struct description *about)
{
	u32 features = le32_to_cpu(about->features);
	struct request_queue *q;
	struct gendisk *disk;

	disk = d->map ? blk_alloc_disk(NUMA_NO_NODE) : blk_mq_alloc_disk(&d->set, d);
	if (IS_ERR_OR_NULL(disk))
		return disk ?: ERR_PTR(-ENOMEM);
	q = disk->queue;
	blk_queue_logical_block_size(q, le32_to_cpu(about->logical_block_bytes));
	blk_queue_physical_block_size(q, le32_to_cpu(about->physical_block_bytes));
	blk_queue_max_hw_sectors(q, le32_to_cpu(about->transfer_max_bytes) >> SECTOR_SHIFT);
	blk_queue_max_segments(q, min_t(u32, le32_to_cpu(about->segments_max), USHRT_MAX));
	blk_queue_max_discard_sectors(q, le32_to_cpu(about->discard_max_sectors));
	q->limits.discard_granularity = le32_to_cpu(about->discard_granularity_bytes);
	blk_queue_max_write_zeroes_sectors(q, le32_to_cpu(about->write_zeroes_max_sectors));
	blk_queue_write_cache(q, features & FEATURE_VOLATILE_CACHE, features & FEATURE_FUA);
	if (!(features & FEATURE_ROTATIONAL))
		blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
	blk_queue_flag_clear(QUEUE_FLAG_ADD_RANDOM, q);
	return disk;
}
#endif

static void make_timer(struct vdisk *d)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&d->timer, vdisk_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
#else
	hrtimer_init(&d->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	d->timer.function = vdisk_timer;
#endif
}

static int make_tags(struct vdisk *d)
{
	d->set.ops = &vdisk_mq_ops;
	d->set.nr_hw_queues = 1;
	d->set.queue_depth = d->depth;
	d->set.numa_node = NUMA_NO_NODE;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
	d->set.flags = BLK_MQ_F_SHOULD_MERGE;
#endif
	return blk_mq_alloc_tag_set(&d->set);
}

static int add_device(struct vdisk *d, int index)
{
	struct description about;
	int error;

	error = greet(d, &about);
	if (error)
		return error;
	if (!d->map) {
		make_timer(d);
		error = make_tags(d);
		if (error)
			return error;
	}
	d->disk = make_disk(d, &about);
	if (IS_ERR(d->disk)) {
		error = PTR_ERR(d->disk);
		goto free_set;
	}
	snprintf(d->disk->disk_name, sizeof(d->disk->disk_name), "vdisk%d", index);
	d->disk->fops = d->map ? &vdisk_mapped_fops : &vdisk_fops;
	d->disk->private_data = d;
	set_capacity(d->disk, le64_to_cpu(about.capacity_sectors));
	error = device_add_disk(NULL, d->disk, vdisk_groups);
	if (!error)
		return 0;
	put_disk(d->disk);
free_set:
	if (!d->map)
		blk_mq_free_tag_set(&d->set);
	return error;
}

static int connect_device(int index)
{
	struct vdisk *d = kzalloc(sizeof(*d), GFP_KERNEL);
	int error = -ENOMEM;

	if (!d)
		return error;
	d->fd = -1;
	d->path = socket[index];
	spin_lock_init(&d->lock);
	d->buffer = kmalloc(BUFFER_BYTES, GFP_KERNEL);
	if (!d->buffer)
		goto free;
	d->fd = os_connect_socket(d->path);
	if (d->fd < 0) {
		error = d->fd;
		goto free;
	}
	error = add_device(d, index);
	if (!error)
		return 0;
	os_close_file(d->fd);
free:
	kvfree(d->written);
	kfree(d->windows);
	kfree(d->buffer);
	kfree(d);
	return error;
}

/* The devices stay until the kernel ends: this is never a module. */
static int __init vdisk_init(void)
{
	int i, error;

	for (i = 0; i < sockets; i++) {
		error = connect_device(i);
		if (error)
			pr_err("%s: not connected: error %d\n", socket[i], -error);
	}
	return 0;
}
late_initcall(vdisk_init);
