// `npm run bench:page`: runs the workloads in the browser that shows this page.
import { FULL_SIZES, type Sizes } from '../storage/dataset.ts';
import { asMarkdown, cell, figuresOf, shown, type TableRow } from './results.ts';
import { runAll, type Measurement } from './run.ts';
import { PARTS, SUBJECTS, titleOf } from './subjects.ts';

const TENTH_SIZES: Sizes = { keyValues: 10_000, documents: 2_000, people: 10_000, entries: 30_000 };
const WORKLOADS = PARTS.flatMap(({ workloads }) => workloads);

const form = one<HTMLFormElement>('form');
const status = one('[role=status]');
const results = one('.results');
const start = one<HTMLButtonElement>('button[type=submit]');
const copy = one<HTMLButtonElement>('button[name=copy]');

let measurements: Measurement[] = [];
let isFull = false;
let running: AbortController | null = null;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (running === null) void run();
  else running.abort();
});
copy.addEventListener('click', () => {
  navigator.clipboard.writeText(asMarkdown(rows(), about())).then(
    () => (status.textContent = 'Copied.'),
    (error: unknown) => (status.textContent = String(error)),
  );
});

async function run(): Promise<void> {
  const choice = new FormData(form);
  isFull = choice.get('size') === 'full';
  measurements = [];
  running = new AbortController();
  start.textContent = 'Stop';
  copy.disabled = true;
  try {
    await runAll({
      sizes: isFull ? FULL_SIZES : TENTH_SIZES,
      rounds: Number(choice.get('rounds')),
      signal: running.signal,
      onProgress: (text) => (status.textContent = text),
      onMeasured(measurement) {
        measurements.push(measurement);
        draw();
      },
    });
    status.textContent = running.signal.aborted ? 'Stopped.' : 'Done.';
  } catch (error) {
    status.textContent = `Stopped by an error: ${String(error)}`;
  } finally {
    running = null;
    start.textContent = 'Run';
    copy.disabled = measurements.length === 0;
  }
}

function rows(): TableRow[] {
  return WORKLOADS.map((workload) => ({
    title: titleOf(workload, isFull),
    unit: workload.unit,
    figures: figuresOf(measurements, workload),
  })).filter(({ figures }) => figures.some(({ median, error }) => median !== null || error !== null));
}

/** A description of the run, for readers of the copy. */
function about(): string {
  return `Rockpool benchmarks: ${isFull ? 'full data' : 'a tenth of the data'}, medians (least–greatest), ${navigator.hardwareConcurrency} cores, ${navigator.userAgent}`;
}

function draw(): void {
  const table = rows();
  const head = element(
    'tr',
    '',
    ...['workload', ...SUBJECTS.map(({ name }) => name)].map((name) => element('th', '', name)),
  );
  const body = table.map(({ title, unit, figures }) =>
    element('tr', '', element('td', '', title), ...figures.map((figure) => element('td', '', cell(figure, unit)))),
  );
  results.replaceChildren(
    ...table.flatMap(chart),
    element('div', 'scroll', element('table', '', element('thead', '', head), element('tbody', '', ...body))),
  );
}

/** Bars of one workload. Shorter is faster. */
function chart({ title, unit, figures }: TableRow): HTMLElement[] {
  const longest = Math.max(...figures.map(({ median }) => median ?? 0));
  const bars = figures.map(({ subject, median, error }) => {
    const bar = element('i', '');
    bar.style.width = `${longest === 0 || median === null ? 0 : (100 * median) / longest}%`;
    bar.style.background = SUBJECTS.find(({ name }) => name === subject)?.colour ?? '';
    const text = error !== null ? 'failed' : median === null ? '–' : shown(median, unit);
    return element('div', 'bar', element('span', '', subject), bar, element('b', '', text));
  });
  return [element('h2', '', title), ...bars];
}

function element(tag: string, className: string, ...children: readonly (Node | string)[]): HTMLElement {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

function one<E extends HTMLElement = HTMLElement>(selector: string): E {
  const found = document.querySelector<E>(selector);
  if (found === null) throw new Error(`the page has no ${selector}`);
  return found;
}
