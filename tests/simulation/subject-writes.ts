import type { ForeignKeyAction } from '#shared/index.ts';
import type { SqlStatement } from '#client/rpc/sql-statement.ts';
import type { SqlParam } from '#client/rpc/sql-value.ts';
import { ROOM_RULES, roomChild } from './household-schema.ts';
import { pageStatements, type PageSubject } from './page-writes.ts';
import type { Random } from './random.ts';
import { pagesSeen, pickId, rowsOf } from './seen-rows.ts';
import type { Tab } from './tab.ts';

/** One write of a random transaction. */
interface SubjectWrite {
  readonly tab: Tab;
  readonly random: Random;
  /** Unique in the history; the written texts carry it. */
  readonly token: string;
  /** A name that accounts compete for. */
  readonly name: string;
  /** The tab runs the older version of the app. */
  readonly isOlder: boolean;
  /** Picks the key of a row of this table. */
  readonly some: (table: string) => string | null;
}

const PAIRS = 2;
const MONTHS = ['2026-10', '2026-11'] as const;
const HOUSES = ['inn', 'barn'] as const;
const NAMES = ['Cash', 'Bank', 'Card', 'Savings', 'Brötchen', 'Loan', 'Trip'];

/** What a transaction may do to rows outside of pages. The order of random choices is part of a history. */
const ROW_WRITES = {
  account: ({ random, token, name }) => [
    statement(
      'INSERT INTO account (id, name, note, rate, picture) VALUES (?, ?, ?, ?, ?)',
      token,
      name,
      token,
      random.below(1_000) / 8,
      random.bytes(3),
    ),
  ],
  rename: ({ some, name }) => [statement('UPDATE account SET name = ? WHERE id = ?', name, some('account'))],
  rate: ({ random, some }) => [statement('UPDATE account SET rate = ? WHERE id = ?', random.below(3), some('account'))],
  note: ({ token, some }) => [statement('UPDATE account SET note = ? WHERE id = ?', token, some('account'))],
  'drop account': ({ random, some }) =>
    random.chance(0.5) ? [statement('DELETE FROM account WHERE id = ?', some('account'))] : [],
  entry: ({ random, token, some }) => [
    statement(
      'INSERT INTO entry (id, account_id, amount, note) SELECT ?, id, ?, ? FROM account WHERE id = ?',
      token,
      random.below(50),
      token,
      some('account'),
    ),
  ],
  'entry note': ({ random, token, some }) => [
    statement('UPDATE entry SET amount = amount + ?, note = ? WHERE id = ?', random.below(400), token, some('entry')),
  ],
  'move entry': ({ some }) => [
    statement('UPDATE entry SET account_id = coalesce(?, account_id) WHERE id = ?', some('account'), some('entry')),
  ],
  'drop entry': ({ some }) => [statement('DELETE FROM entry WHERE id = ?', some('entry'))],
  label: ({ token, some }) => [
    statement(
      'INSERT INTO label (id, account_id, content) SELECT ?, id, ? FROM account WHERE id = ?',
      token,
      token,
      some('account'),
    ),
  ],
  'drop label': ({ some }) => [statement('DELETE FROM label WHERE id = ?', some('label'))],
  goal: ({ random, token }) => [
    statement(
      'INSERT OR REPLACE INTO goal (month, slot, low, high, width, note) VALUES (?1, ?2, ?3, ?4, ?4 - ?3, ?5)',
      random.pick(MONTHS),
      random.below(3),
      random.below(50),
      50 + random.below(50),
      random.pick([null, token]),
    ),
  ],
  low: ({ random }) => [
    statement(
      'UPDATE goal SET low = high - ?1, width = ?1 WHERE month = ?2 AND slot = ?3',
      random.below(40),
      random.pick(MONTHS),
      random.below(3),
    ),
  ],
  high: ({ random }) => [
    statement(
      'UPDATE goal SET high = low + ?1, width = ?1 WHERE month = ?2 AND slot = ?3',
      random.below(40),
      random.pick(MONTHS),
      random.below(3),
    ),
  ],
  plan: ({ token, isOlder }) =>
    isOlder
      ? [statement('INSERT INTO plan (id, title) VALUES (?, ?)', token, `${token}t`)]
      : [statement('INSERT INTO plan (id, title, detail) VALUES (?, ?, ?)', token, `${token}t`, `${token}d`)],
  title: ({ token, some }) => [statement('UPDATE plan SET title = ? WHERE id = ?', token, some('plan'))],
  detail: ({ token, some }) => [statement('UPDATE plan SET detail = ? WHERE id = ?', token, some('plan'))],
  'drop plan': ({ some }) => [statement('DELETE FROM plan WHERE id = ?', some('plan'))],
  swap: ({ tab, random }) => swapNames(tab, random),
  pair: ({ random, token }) => {
    const pair = random.below(PAIRS);
    return ['left', 'right'].map((side) =>
      statement(
        'INSERT INTO half (pair, side, token) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET token = excluded.token',
        pair,
        side,
        token,
      ),
    );
  },
  'drop pair': ({ random }) =>
    random.chance(0.5) ? [statement('DELETE FROM half WHERE pair = ?', random.below(PAIRS))] : [],
  'key of entry': ({ token, some }) => [
    statement('UPDATE entry SET id = ?1, note = ?1 WHERE id = ?2', token, some('entry')),
  ],
  'key of account': ({ token, some }) => changeAccountKey(token, some('account')),
  trip: ({ random, token, isOlder }) => [
    statement(
      isOlder
        ? 'INSERT INTO trip (id, first_day, last_day, days) VALUES (?1, ?2, ?2 + ?3, ?3)'
        : 'INSERT INTO trip (id, first_day, last_day, days, title) VALUES (?1, ?2, ?2 + ?3, ?3, ?1)',
      token,
      random.below(300),
      random.below(9),
    ),
  ],
  'first day': ({ random, some }) => [
    statement('UPDATE trip SET first_day = last_day - ?1, days = ?1 WHERE id = ?2', random.below(9), some('trip')),
  ],
  'last day': ({ random, some }) => [
    statement('UPDATE trip SET last_day = first_day + ?1, days = ?1 WHERE id = ?2', random.below(9), some('trip')),
  ],
  'trip title': ({ token, some }) => [statement('UPDATE trip SET title = ? WHERE id = ?', token, some('trip'))],
  'drop trip': ({ some }) => [statement('DELETE FROM trip WHERE id = ?', some('trip'))],
  room: ({ random, token }) => [
    statement(
      'INSERT INTO room (house, number, note) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET note = excluded.note',
      random.pick(HOUSES),
      random.below(2),
      token,
    ),
  ],
  lobby: ({ token }) => [
    statement(
      "INSERT INTO room (house, number, note) VALUES ('lobby', 0, ?1) ON CONFLICT DO UPDATE SET note = excluded.note",
      token,
    ),
  ],
  'room note': ({ random, token }) => [
    statement('UPDATE room SET note = ? WHERE house = ? AND number = ?', token, random.pick(HOUSES), random.below(2)),
  ],
  'drop room': ({ random }) => [
    statement('DELETE FROM room WHERE house = ? AND number = ?', random.pick(HOUSES), random.below(2)),
  ],
  guest: (write) => insertGuest(write, write.random.pick(ROOM_RULES)),
  'loose guest': (write) => insertGuest(write, 'set null'),
  'half guest': ({ random, token }) => {
    const [house, number] = random.pick([
      [random.pick(HOUSES), null],
      [null, random.below(2)],
      ['nowhere', null],
      [null, null],
    ] as const);
    return [
      statement(
        `INSERT INTO ${roomChild(random.pick(ROOM_RULES))} (id, house, number, note) VALUES (?1, ?2, ?3, ?1)`,
        token,
        house,
        number,
      ),
    ];
  },
  'move guest': (write) => moveGuest(write, write.random.pick(ROOM_RULES)),
  'move loose guest': (write) => moveGuest(write, 'set null'),
  project: ({ token }) => [statement('INSERT INTO project (id, title) VALUES (?1, ?1)', token)],
  'project title': ({ token, some }) => [
    statement('UPDATE project SET title = ? WHERE id = ?', token, some('project')),
  ],
  'drop project': ({ some }) => [statement('DELETE FROM project WHERE id = ?', some('project'))],
  task: ({ token, some }) => [
    statement(
      'INSERT INTO task (id, project_id, note) SELECT ?1, id, ?1 FROM project WHERE id = ?2',
      token,
      some('project'),
    ),
  ],
  'move task': ({ token, some }) => [
    statement('UPDATE task SET project_id = ?, note = ? WHERE id = ?', some('project'), token, some('task')),
  ],
  tag: ({ random }) => [
    statement(
      'INSERT INTO tag (house, word) VALUES (?, ?) ON CONFLICT DO NOTHING',
      random.pick(HOUSES),
      random.pick(['old', 'new']),
    ),
  ],
  'drop tag': () => [statement('DELETE FROM tag WHERE rowid = (SELECT max(rowid) FROM tag)')],
  draft: ({ token }) => [statement('INSERT INTO draft (id, content) VALUES (?, ?)', draftId(token), token)],
} satisfies Readonly<Record<string, (write: SubjectWrite) => SqlStatement[]>>;

type RowSubject = keyof typeof ROW_WRITES;

export type Subject = RowSubject | PageSubject;

/** What the older version of the app does not have. */
const NEWER_SUBJECTS: ReadonlySet<Subject> = new Set(['detail', 'trip title', 'task', 'move task', 'tag', 'drop tag']);

export function subjectStatements(tab: Tab, random: Random, token: string, subject: Subject): SqlStatement[] {
  const isOlder = tab.app === 'older';
  if (isOlder && NEWER_SUBJECTS.has(subject)) return [];
  const name = random.pick(NAMES);
  if (!isRowSubject(subject)) return pageStatements(pagesSeen(tab), random, token, subject);
  const write: SubjectWrite = { tab, random, token, name, isOlder, some: (table) => pickId(tab, random, table) };
  return ROW_WRITES[subject](write);
}

function isRowSubject(subject: Subject): subject is RowSubject {
  return subject in ROW_WRITES;
}

export function statement(sql: string, ...params: SqlParam[]): SqlStatement {
  return { sql, params };
}

/** Two rows swap a unique value in one transaction, so that each blocks the other when it is applied. */
function swapNames(tab: Tab, random: Random): SqlStatement[] {
  const rows = rowsOf(tab, 'SELECT id, name FROM account ORDER BY id') as [string, string][];
  if (rows.length < 2) return [statement('DELETE FROM goal WHERE slot = ?', random.below(3))];
  const [a, b] = [random.pick(rows), random.pick(rows)];
  if (a[0] === b[0]) return [];
  return [
    statement('UPDATE account SET name = ? WHERE id = ?', '(moving)', a[0]),
    statement('UPDATE account SET name = ? WHERE id = ?', a[1], b[0]),
    statement('UPDATE account SET name = ? WHERE id = ?', b[1], a[0]),
  ];
}

/** Changes the key of an account together with the references of its children. */
function changeAccountKey(key: string, account: string | null): SqlStatement[] {
  return [
    statement('PRAGMA defer_foreign_keys = ON'),
    statement('UPDATE account SET id = ?1, note = ?1 WHERE id = ?2', key, account),
    ...['entry', 'label'].map((table) =>
      statement(`UPDATE ${table} SET account_id = ? WHERE account_id = ?`, key, account),
    ),
  ];
}

function insertGuest({ random, token }: SubjectWrite, rule: ForeignKeyAction): SqlStatement[] {
  return [
    statement(
      `INSERT INTO ${roomChild(rule)} (id, house, number, note) SELECT ?1, house, number, ?1 FROM room ORDER BY house = ? DESC LIMIT 1`,
      token,
      random.pick(HOUSES),
    ),
  ];
}

function moveGuest({ random, token, some }: SubjectWrite, rule: ForeignKeyAction): SqlStatement[] {
  const table = roomChild(rule);
  const number = random.pick([null, random.below(2)]);
  return [
    statement(
      `UPDATE ${table} SET house = ?, number = ?, note = ? WHERE id = ?`,
      random.pick(HOUSES),
      number,
      token,
      some(table),
    ),
  ];
}

/** Integer keys of local rows, one per token. */
export function draftId(token: string): number {
  let id = 0;
  for (const character of token) id = (id * 31 + character.charCodeAt(0)) % 2_147_483_647;
  return id;
}
