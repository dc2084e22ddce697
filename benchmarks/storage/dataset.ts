// The rows for every subject. Each row depends only on its number, so that all subjects get the same rows without
// coordination.

/** The contents of the two filled databases. The reduced sizes are for development: their figures mean nothing. */
export interface Sizes {
  readonly keyValues: number;
  readonly documents: number;
  readonly people: number;
  readonly entries: number;
}

/** About 50 MB in the main database and 90 MB in the other: what a heavy user of an app may have. */
export const FULL_SIZES: Sizes = { keyValues: 100_000, documents: 20_000, people: 100_000, entries: 300_000 };
export const QUICK_SIZES: Sizes = { keyValues: 10_000, documents: 1_000, people: 10_000, entries: 20_000 };

export type KeyValue = readonly [key: string, value: number];
export type Person = readonly [id: number, name: string, city: string, note: string, points: number, balance: number];
export type Entry = readonly [id: number, day: string, account: number, category: number, amount: number, memo: string];
export type Document = readonly [id: number, json: string];

/** The days of the entries are spread evenly over two years. L10 asks for the second year. */
export const RANGE = { from: '2025-01-01', to: '2025-12-31' } as const;
const FIRST_DAY_MS = Date.UTC(2024, 0, 1);
const DAYS = 731;
const DAY_MS = 86_400_000;

export function keyValue(index: number): KeyValue {
  return [keyOf(index), valueOf(index)];
}

/** A random version 4 UUID: rows created one after the other are far apart in the index. */
export function keyOf(index: number): string {
  const [a, b, c, d] = [1, 2, 3, 4].map((part) =>
    scramble(index * 4 + part)
      .toString(16)
      .padStart(8, '0'),
  ) as [string, string, string, string];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-a${c.slice(1, 4)}-${c.slice(4)}${d}`;
}

export function valueOf(index: number): number {
  return (scramble(index + 77) % 1_000_000) / 997;
}

export function person(index: number): Person {
  const note = `${pick(WORDS, index + 5)} and ${pick(WORDS, index + 6)} with ${pick(WORDS, index + 7)} #${scramble(index) % 9999}`;
  return [
    index,
    `${pick(FIRST_NAMES, index)} ${pick(LAST_NAMES, index + 9)} ${index}`,
    pick(CITIES, index + 3),
    note,
    scramble(index + 1) % 100_000,
    valueOf(index),
  ];
}

export function entry(index: number): Entry {
  const day = new Date(FIRST_DAY_MS + (scramble(index + 11) % DAYS) * DAY_MS).toISOString().slice(0, 10);
  return [index, day, scramble(index + 12) % 8, scramble(index + 13) % 12, valueOf(index + 5), pick(WORDS, index + 14)];
}

/** An order of 14 items, about 2 KB as JSON. */
export function document(index: number): Document {
  const items = Array.from({ length: 14 }, (_, item) => ({
    sku: keyOf(index * 20 + item).slice(0, 13),
    name: pick(WORDS, index + item),
    quantity: (scramble(index * 3 + item) % 9) + 1,
    price: (scramble(index * 5 + item) % 10_000) / 100,
    tags: [`a${scramble(index + item) % 7}`, 'b'],
  }));
  const customer = {
    name: `${pick(FIRST_NAMES, index)} ${pick(LAST_NAMES, index + 2)}`,
    city: pick(CITIES, index + 4),
  };
  const status = pick(['open', 'paid', 'void', 'late'], index + 8);
  const amount = (scramble(index + 21) % 100_000) / 100;
  return [
    index,
    JSON.stringify({ type: 'order', customer, items, note: 'x'.repeat((scramble(index) % 90) + 120), status, amount }),
  ];
}

/** `count` items of `make`, in batches that fit into memory beside a database. */
export function* batches<T>(count: number, batchSize: number, make: (index: number) => T): Generator<T[]> {
  for (let start = 0; start < count; start += batchSize) {
    yield Array.from({ length: Math.min(batchSize, count - start) }, (_, i) => make(start + i));
  }
}

/** `count` numbers from 0 to `below`, the same for the same seed. */
export function randomIndexes(count: number, below: number, seed: number): number[] {
  return Array.from({ length: count }, (_, i) => scramble(i * 2_654_435 + seed * 97) % below);
}

const FIRST_NAMES = [
  'Zoë',
  'Łukasz',
  'Søren',
  'Amélie',
  'José',
  'Anna',
  'Björk',
  'Наталья',
  '美咲',
  'John',
  'Mary',
  'Siân',
  'Ağca',
  'Peter',
];
const LAST_NAMES = [
  'Müller-Lüdenscheidt',
  'Kowalczyk-Wiśniewska',
  'Ærøskøbing',
  'García Fernández',
  'Smith-Patterson',
  'O’Donnell-Brennan',
  'Иванова-Петрова',
  '田中',
  'Johnson',
];
const CITIES = [
  'São Paulo, Brasil — Vila Mariana',
  'Kraków (Małopolskie), Polska',
  '東京都渋谷区神宮前一丁目二番三号ビル',
  'Los Angeles, California, USA',
  'Frankfurt am Main, Hessen',
  'Québec, Québec, Canada 12345',
];
const WORDS = [
  'coffee',
  'groceries',
  'rent',
  'café',
  'train ticket',
  'déjeuner',
  'books',
  'insurance',
  'salary',
  'transfer',
  'Käse',
  'pharmacy',
  'fuel',
  'gift',
  'refund',
];

function pick<T>(list: readonly T[], index: number): T {
  return list[scramble(index) % list.length] as T;
}

/** The finaliser of MurmurHash3: 32 bits that look random. */
function scramble(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
