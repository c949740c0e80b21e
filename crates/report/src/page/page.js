'use strict';
// What the page has beside its contents, which are complete without it: tooltips, sorting, copying,
// downloads, and everything opened for print. Text goes in as text alone.
(() => {
  const all = (selector, within) => Array.from((within || document).querySelectorAll(selector));

  // Tooltips: by mouse, by touch, and by keyboard with one tab stop a chart.
  const tip = document.createElement('div');
  tip.id = 'tip';
  tip.setAttribute('aria-hidden', 'true');
  tip.hidden = true;
  document.body.append(tip);
  const hide = () => { tip.hidden = true; };
  const show = (mark, x, y) => {
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    const own = tip.getBoundingClientRect();
    const left = Math.min(Math.max(4, x + 12), innerWidth - own.width - 4);
    const above = y - own.height - 10;
    tip.style.left = Math.max(4, left) + 'px';
    tip.style.top = (above > 4 ? above : y + 16) + 'px';
  };
  const markOf = (event) => event.target.closest && event.target.closest('.mark[data-tip]');
  const byPointer = (event) => {
    const mark = markOf(event);
    if (mark) show(mark, event.clientX, event.clientY); else hide();
  };
  document.addEventListener('pointermove', byPointer);
  document.addEventListener('pointerdown', byPointer);
  const showAt = (mark) => {
    const box = mark.getBoundingClientRect();
    show(mark, box.left + box.width / 2, box.top);
  };
  // A focus scrolls its mark into view: the tip of that mark goes along.
  const byScroll = () => {
    const mark = document.activeElement && markOf({ target: document.activeElement });
    if (mark && !tip.hidden && tip.textContent === mark.dataset.tip) showAt(mark); else hide();
  };
  document.addEventListener('scroll', byScroll, { passive: true, capture: true });
  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  for (const chart of all('figure.chart svg')) {
    const marks = all('.mark[data-tip]', chart);
    if (marks.length === 0) continue;
    // What can be focused may not lie within an image.
    chart.setAttribute('role', 'group');
    marks.forEach((mark, at) => {
      mark.setAttribute('tabindex', at === 0 ? '0' : '-1');
      mark.setAttribute('role', 'img');
      mark.setAttribute('aria-label', mark.dataset.tip);
    });
    const go = (at) => {
      for (const mark of marks) mark.setAttribute('tabindex', '-1');
      marks[at].setAttribute('tabindex', '0');
      marks[at].focus();
    };
    chart.addEventListener('keydown', (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const at = marks.indexOf(markOf(event));
      if (at < 0) return;
      if (event.key === 'Escape') hide();
      const to = event.key === 'Home' ? 0 : event.key === 'End' ? marks.length - 1
        : at + (STEPS[event.key] || NaN);
      if (!(to >= 0 && to < marks.length)) return;
      event.preventDefault();
      go(to);
    });
    chart.addEventListener('focusin', (event) => {
      const mark = markOf(event);
      if (mark) showAt(mark);
    });
    chart.addEventListener('focusout', hide);
  }

  // Sorting: figures by their value, what has none last; text as people sort it; equal rows stay.
  const collator = new Intl.Collator('en', { numeric: true });
  const keyOf = (row, at) => {
    const cell = row.cells[at];
    const text = cell.textContent.trim();
    const value = cell.dataset.value;
    const number = value === undefined ? text.replace(/,/g, '') : value;
    return { value: number === '' ? NaN : Number(number), text };
  };
  const compare = (a, b, sign) => {
    const [noA, noB] = [Number.isNaN(a.value), Number.isNaN(b.value)];
    if (!noA && !noB) return sign * (a.value - b.value);
    if (noA !== noB) return noA ? 1 : -1;
    const [dashA, dashB] = [a.text === '–', b.text === '–'];
    if (dashA !== dashB) return dashA ? 1 : -1;
    return sign * collator.compare(a.text, b.text);
  };
  const sortBy = (table, heads, at) => {
    const ascending = heads[at].getAttribute('aria-sort') !== 'ascending';
    for (const head of heads) head.removeAttribute('aria-sort');
    heads[at].setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, key: keyOf(row, at) }));
    rows.sort((a, b) => compare(a.key, b.key, ascending ? 1 : -1));
    body.append(...rows.map((one) => one.row));
  };
  for (const table of all('table.sortable')) {
    if (table.tBodies[0].rows.length < 2) continue;
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, at) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => sortBy(table, heads, at));
    });
  }

  // Copying and downloads: buttons that are not there without the script.
  const button = (words, place, act) => {
    const one = document.createElement('button');
    one.type = 'button';
    one.textContent = words;
    one.addEventListener('click', () => act(one));
    place.append(one);
    return one;
  };
  for (const place of all('[data-copy]')) {
    const text = document.getElementById(place.dataset.copy);
    if (!text || !navigator.clipboard) continue;
    button('Copy', place, (one) => {
      navigator.clipboard.writeText(text.textContent).then(
        () => { one.textContent = 'Copied'; },
        () => { one.textContent = 'Not copied: select it by hand'; });
    });
  }
  for (const place of all('[data-save]')) {
    const data = document.getElementById(place.dataset.save);
    if (!data) continue;
    button(place.dataset.words, place, () => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([data.textContent], { type: place.dataset.type }));
      link.download = place.dataset.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  // The baseline: every cell stands there for each that is offered, and one of them is shown.
  for (const choice of all('.choice')) {
    const table = choice.closest('table');
    const select = choice.querySelector('select');
    const chosen = table.querySelector('.chosen');
    choice.hidden = false;
    chosen.hidden = true;
    select.addEventListener('change', () => {
      for (const one of all('[data-baseline]', table)) {
        one.hidden = one.dataset.baseline !== select.value;
      }
      chosen.textContent = 'baseline: ' + select.selectedOptions[0].textContent;
    });
  }

  // A click anywhere on a row opens it, not only one on its name.
  for (const opener of all('details.opener')) {
    const row = opener.closest('tr');
    row.addEventListener('click', (event) => {
      if (!event.target.closest('summary, select, a, button')) opener.open = !opener.open;
    });
  }

  // What is linked to is opened.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === 'DETAILS') at.open = true;
      const row = at.tagName === 'TR' && at.classList.contains('unfolded') && at.previousElementSibling;
      if (row) row.querySelector('details.opener').open = true;
    }
    target.scrollIntoView();
  };
  addEventListener('hashchange', reveal);
  reveal();

  // The appendix is printed; what else is closed is not.
  let closed = [];
  addEventListener('beforeprint', () => {
    closed = all('details.printed:not([open])');
    for (const one of closed) one.open = true;
  });
  addEventListener('afterprint', () => { for (const one of closed) one.open = false; });
})();
