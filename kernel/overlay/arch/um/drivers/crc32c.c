// SPDX-License-Identifier: GPL-2.0
/*
 * crc32c by the instruction that the processor has for it (SSE 4.2), as any kernel on such a
 * processor computes it. That of x86 is not built for a kernel that is a process.
 *
 * File systems checksum their metadata and journals with it: by tables it is nearly half of what a
 * guest does when it mounts one after a power cut. The values are the same. The instruction uses
 * general registers alone, so that none of those of a user's process are touched.
 */
#define pr_fmt(fmt) "crc32c: " fmt

#include <linux/crypto.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/version.h>
#include <crypto/internal/hash.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#define SSE4_2	(1u << 20)
#define SEED	(~0u)
/* Above that of the tables. */
#define PRIORITY	200
/* Three of them are a block of a file system but for 16 bytes. */
#define STREAM_BYTES	1360

/* By byte of a sum and its value, what it becomes behind STREAM_BYTES zeros. */
static u32 behind_zeros[4][256] __ro_after_init;

static bool has_instruction(void)
{
	u32 leaf = 1, features = 0;

	asm volatile("cpuid" : "+a"(leaf), "+c"(features) : : "ebx", "edx");
	return features & SSE4_2;
}

static inline u64 add_word(u64 crc, const u8 *data)
{
	asm("crc32q %1, %0" : "+r"(crc) : "rm"(get_unaligned((const u64 *)data)));
	return crc;
}

/* The sum of what was summed and of STREAM_BYTES zeros behind it. */
static u32 skip_stream(u32 crc)
{
	return behind_zeros[0][crc & 0xff] ^ behind_zeros[1][crc >> 8 & 0xff] ^
	       behind_zeros[2][crc >> 16 & 0xff] ^ behind_zeros[3][crc >> 24];
}

static u32 checksum(u32 crc, const u8 *data, unsigned int bytes)
{
	u64 wide = crc;

	/*
	 * The instruction takes three cycles, and one can begin in each: three streams side by side,
	 * of which the second and the third begin with nothing. The sum is linear.
	 */
	for (; bytes >= 3 * STREAM_BYTES; bytes -= 3 * STREAM_BYTES, data += 3 * STREAM_BYTES) {
		u64 second = 0, third = 0;
		unsigned int at;

		for (at = 0; at < STREAM_BYTES; at += sizeof(u64)) {
			wide = add_word(wide, data + at);
			second = add_word(second, data + STREAM_BYTES + at);
			third = add_word(third, data + 2 * STREAM_BYTES + at);
		}
		wide = skip_stream(skip_stream(wide) ^ second) ^ third;
	}
	for (; bytes >= sizeof(u64); bytes -= sizeof(u64), data += sizeof(u64))
		wide = add_word(wide, data);
	crc = wide;
	for (; bytes; bytes--, data++)
		asm("crc32b %1, %0" : "+r"(crc) : "rm"(*data));
	return crc;
}

static void __init fill_behind_zeros(void)
{
	unsigned int byte, value, at;

	for (byte = 0; byte < 4; byte++) {
		for (value = 0; value < 256; value++) {
			u64 crc = (u64)value << 8 * byte;
			const u64 zeros = 0;

			for (at = 0; at < STREAM_BYTES; at += sizeof(u64))
				crc = add_word(crc, (const u8 *)&zeros);
			behind_zeros[byte][value] = crc;
		}
	}
}

static int set_seed(struct crypto_shash *hash, const u8 *key, unsigned int bytes)
{
	u32 *seed = crypto_shash_ctx(hash);

	if (bytes != sizeof(u32))
		return -EINVAL;
	*seed = get_unaligned_le32(key);
	return 0;
}

static int seed_of_none(struct crypto_tfm *tfm)
{
	u32 *seed = crypto_tfm_ctx(tfm);

	*seed = SEED;
	return 0;
}

static int begin(struct shash_desc *desc)
{
	u32 *seed = crypto_shash_ctx(desc->tfm);
	u32 *crc = shash_desc_ctx(desc);

	*crc = *seed;
	return 0;
}

static int update(struct shash_desc *desc, const u8 *data, unsigned int bytes)
{
	u32 *crc = shash_desc_ctx(desc);

	*crc = checksum(*crc, data, bytes);
	return 0;
}

static int end(struct shash_desc *desc, u8 *out)
{
	u32 *crc = shash_desc_ctx(desc);

	put_unaligned_le32(~*crc, out);
	return 0;
}

static struct shash_alg algorithm = {
	.setkey = set_seed,
	.init = begin,
	.update = update,
	.final = end,
	.digestsize = sizeof(u32),
	/* Users put the sum so far there, and take it from there. */
	.descsize = sizeof(u32),
	.base = {
		.cra_name = "crc32c",
		.cra_driver_name = "crc32c-uml",
		.cra_priority = PRIORITY,
		.cra_flags = CRYPTO_ALG_OPTIONAL_KEY,
		.cra_blocksize = 1,
		.cra_ctxsize = sizeof(u32),
		.cra_init = seed_of_none,
		.cra_module = THIS_MODULE,
	},
};

/*
 * Of a few bytes, with a whole word and a rest, and of many, in streams and byte by byte: a
 * processor that counts otherwise is not used.
 */
static bool __init is_right(void)
{
	static const u8 digits[] __initconst = "123456789";
	static u8 many[3 * STREAM_BYTES + 16] __initdata;
	u32 crc = SEED;
	unsigned int at;

	for (at = 0; at < sizeof(many); at++) {
		many[at] = at * 7 + at / 256;
		crc = checksum(crc, many + at, 1);
	}
	return ~checksum(SEED, digits, sizeof(digits) - 1) == 0xe3069283 &&
	       checksum(SEED, many, sizeof(many)) == crc;
}

static int __init crc32c_init(void)
{
	if (!has_instruction())
		return 0;
	fill_behind_zeros();
	if (!is_right()) {
		pr_err("the processor gives another sum; tables are used\n");
		return 0;
	}
	return crypto_register_shash(&algorithm);
}
subsys_initcall(crc32c_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("crc32c by an instruction of the processor");
