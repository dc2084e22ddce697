import type { SqlStatement } from '#client/rpc/sql-statement.ts';
import type { SqlParam } from '#client/rpc/sql-value.ts';
import { ROOM_RULES, roomChild, TALLIES } from './household-schema.ts';
import { PAGE_SUBJECTS, pageStatements, type SeenPage } from './page-writes.ts';
import type { Random } from './random.ts';
import type { Tab } from './tab.ts';

/** What a transaction may do. Repeated entries are more likely. */
const SUBJECTS = [
  'account',
  'account',
  'rename',
  'rate',
  'note',
  'drop account',
  'entry',
  'entry',
  'entry note',
  'move entry',
  'drop entry',
  'label',
  'drop label',
  'goal',
  'goal',
  'low',
  'high',
  'plan',
  'title',
  'title',
  'detail',
  'drop plan',
  'swap',
  'pair',
  'pair',
  'pair',
  'drop pair',
  'draft',
  ...PAGE_SUBJECTS,
] as const;

/** Used only by scenes. */
type SceneSubject =
  | 'room'
  | 'lobby'
  | 'room note'
  | 'drop room'
  | 'guest'
  | 'half guest'
  | 'move guest'
  | 'loose guest'
  | 'move loose guest'
  | 'project'
  | 'project title'
  | 'drop project'
  | 'task'
  | 'move task'
  | 'tag'
  | 'drop tag'
  | 'key of entry'
  | 'key of account'
  | 'trip'
  | 'first day'
  | 'last day'
  | 'trip title'
  | 'drop trip';

export type Subject = (typeof SUBJECTS)[number] | SceneSubject;

const PAIRS = 2;
const MONTHS = ['2026-10', '2026-11'] as const;
const HOUSES = ['inn', 'barn'] as const;
const NAMES = ['Cash', 'Bank', 'Card', 'Savings', 'Brötchen', 'Loan', 'Trip'];

/**
 * A random transaction based on what this tab sees. Each one has its own mark and unique texts, so that it can be
 * traced.
 */
export function randomTransaction(tab: Tab, random: Random, mark: string, only?: Subject): SqlStatement[] {
  const statements = markStatements(tab, random, mark);
  const subjects = random.chance(0.2) ? 2 + random.below(3) : 1;
  for (let subject = 0; subject < subjects; subject++)
    statements.push(...subjectStatements(tab, random, `${mark}/${subject}`, only ?? random.pick(SUBJECTS)));
  return statements;
}

/** Takes a unique name, and perhaps writes into every page. */
export function claimName(tab: Tab, random: Random, mark: string, name: string, editsPages: boolean): SqlStatement[] {
  const claim = statement('INSERT INTO account (id, name, note) VALUES (?, ?, ?)', `${mark}/0`, name, `${mark}/0`);
  return [...markStatements(tab, random, mark), claim, ...(editsPages ? [itemInEveryPage(`${mark}/1`)] : [])];
}

export function releaseName(tab: Tab, random: Random, mark: string, name: string): SqlStatement[] {
  return [...markStatements(tab, random, mark), statement('DELETE FROM account WHERE name = ?', name)];
}

export function editEveryPage(tab: Tab, random: Random, mark: string): SqlStatement[] {
  return [...markStatements(tab, random, mark), itemInEveryPage(`${mark}/0`)];
}

export function dropEveryPage(tab: Tab, random: Random, mark: string): SqlStatement[] {
  return [...markStatements(tab, random, mark), statement('DELETE FROM page')];
}

/** Creates a counter if it does not exist, and adds to it. */
export function makeCounter(tab: Tab, mark: string, counter: string, delta: number): SqlStatement[] {
  return [
    statement('INSERT INTO tally (id) VALUES (?) ON CONFLICT DO NOTHING', counter),
    ...countIn(tab, mark, counter, delta),
  ];
}

/** Writes the mark of a transaction, which adds to a counter. */
export function countIn(tab: Tab, mark: string, counter: string, delta: number | bigint): SqlStatement[] {
  return [
    statement(
      'INSERT INTO mark (id, author, tally_id, delta) SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM tally WHERE id = ?)',
      mark,
      tab.device.name,
      counter,
      delta,
      counter,
    ),
    // A device that does not have the counter yet counts nothing.
    statement(
      'INSERT INTO mark (id, author, tally_id, delta) SELECT ?, ?, ?, 0 WHERE NOT EXISTS (SELECT 1 FROM mark WHERE id = ?)',
      mark,
      tab.device.name,
      counter,
      mark,
    ),
  ];
}

function itemInEveryPage(token: string): SqlStatement {
  return statement(
    "UPDATE page SET content = json_insert(content, '$.items[#]', json_object('note', 'new', 'id', ?))",
    token,
  );
}

function markStatements(tab: Tab, random: Random, mark: string): SqlStatement[] {
  return countIn(tab, mark, random.pick(TALLIES), random.below(9) - 4);
}

function statement(sql: string, ...params: SqlParam[]): SqlStatement {
  return { sql, params };
}

/** What the older version of the app does not have. */
const NEWER_SUBJECTS: ReadonlySet<Subject> = new Set(['detail', 'trip title', 'task', 'move task', 'tag', 'drop tag']);

function subjectStatements(tab: Tab, random: Random, token: string, subject: Subject): SqlStatement[] {
  const isOlder = tab.app === 'older';
  if (isOlder && NEWER_SUBJECTS.has(subject)) return [];
  const some = (table: string): string | null => pickId(tab, random, table);
  const name = random.pick(NAMES);
  switch (subject) {
    case 'account':
      return [
        statement(
          'INSERT INTO account (id, name, note, rate, picture) VALUES (?, ?, ?, ?, ?)',
          token,
          name,
          token,
          random.below(1_000) / 8,
          random.bytes(3),
        ),
      ];
    case 'rename':
      return [statement('UPDATE account SET name = ? WHERE id = ?', name, some('account'))];
    case 'rate':
      return [statement('UPDATE account SET rate = ? WHERE id = ?', random.below(3), some('account'))];
    case 'note':
      return [statement('UPDATE account SET note = ? WHERE id = ?', token, some('account'))];
    case 'drop account':
      return random.chance(0.5) ? [statement('DELETE FROM account WHERE id = ?', some('account'))] : [];
    case 'entry':
      return [
        statement(
          'INSERT INTO entry (id, account_id, amount, note) SELECT ?, id, ?, ? FROM account WHERE id = ?',
          token,
          random.below(50),
          token,
          some('account'),
        ),
      ];
    case 'entry note':
      return [
        statement(
          'UPDATE entry SET amount = amount + ?, note = ? WHERE id = ?',
          random.below(400),
          token,
          some('entry'),
        ),
      ];
    case 'move entry':
      return [
        statement('UPDATE entry SET account_id = coalesce(?, account_id) WHERE id = ?', some('account'), some('entry')),
      ];
    case 'drop entry':
      return [statement('DELETE FROM entry WHERE id = ?', some('entry'))];
    case 'label':
      return [
        statement(
          'INSERT INTO label (id, account_id, content) SELECT ?, id, ? FROM account WHERE id = ?',
          token,
          token,
          some('account'),
        ),
      ];
    case 'drop label':
      return [statement('DELETE FROM label WHERE id = ?', some('label'))];
    case 'goal':
      return [
        statement(
          'INSERT OR REPLACE INTO goal (month, slot, low, high, width, note) VALUES (?1, ?2, ?3, ?4, ?4 - ?3, ?5)',
          random.pick(MONTHS),
          random.below(3),
          random.below(50),
          50 + random.below(50),
          random.pick([null, token]),
        ),
      ];
    case 'low':
      return [
        statement(
          'UPDATE goal SET low = high - ?1, width = ?1 WHERE month = ?2 AND slot = ?3',
          random.below(40),
          random.pick(MONTHS),
          random.below(3),
        ),
      ];
    case 'high':
      return [
        statement(
          'UPDATE goal SET high = low + ?1, width = ?1 WHERE month = ?2 AND slot = ?3',
          random.below(40),
          random.pick(MONTHS),
          random.below(3),
        ),
      ];
    case 'plan':
      return isOlder
        ? [statement('INSERT INTO plan (id, title) VALUES (?, ?)', token, `${token}t`)]
        : [statement('INSERT INTO plan (id, title, detail) VALUES (?, ?, ?)', token, `${token}t`, `${token}d`)];
    case 'title':
      return [statement('UPDATE plan SET title = ? WHERE id = ?', token, some('plan'))];
    case 'detail':
      return [statement('UPDATE plan SET detail = ? WHERE id = ?', token, some('plan'))];
    case 'drop plan':
      return [statement('DELETE FROM plan WHERE id = ?', some('plan'))];
    case 'swap':
      return swapNames(tab, random);
    case 'pair': {
      const pair = random.below(PAIRS);
      return ['left', 'right'].map((side) =>
        statement(
          'INSERT INTO half (pair, side, token) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET token = excluded.token',
          pair,
          side,
          token,
        ),
      );
    }
    case 'drop pair':
      return random.chance(0.5) ? [statement('DELETE FROM half WHERE pair = ?', random.below(PAIRS))] : [];
    case 'key of entry':
      return [statement('UPDATE entry SET id = ?1, note = ?1 WHERE id = ?2', token, some('entry'))];
    case 'key of account':
      return changeAccountKey(token, some('account'));
    case 'trip':
      return [
        statement(
          isOlder
            ? 'INSERT INTO trip (id, first_day, last_day, days) VALUES (?1, ?2, ?2 + ?3, ?3)'
            : 'INSERT INTO trip (id, first_day, last_day, days, title) VALUES (?1, ?2, ?2 + ?3, ?3, ?1)',
          token,
          random.below(300),
          random.below(9),
        ),
      ];
    case 'first day':
      return [
        statement('UPDATE trip SET first_day = last_day - ?1, days = ?1 WHERE id = ?2', random.below(9), some('trip')),
      ];
    case 'last day':
      return [
        statement('UPDATE trip SET last_day = first_day + ?1, days = ?1 WHERE id = ?2', random.below(9), some('trip')),
      ];
    case 'trip title':
      return [statement('UPDATE trip SET title = ? WHERE id = ?', token, some('trip'))];
    case 'drop trip':
      return [statement('DELETE FROM trip WHERE id = ?', some('trip'))];
    case 'room':
      return [
        statement(
          'INSERT INTO room (house, number, note) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET note = excluded.note',
          random.pick(HOUSES),
          random.below(2),
          token,
        ),
      ];
    case 'lobby':
      return [
        statement(
          "INSERT INTO room (house, number, note) VALUES ('lobby', 0, ?1) ON CONFLICT DO UPDATE SET note = excluded.note",
          token,
        ),
      ];
    case 'room note':
      return [
        statement(
          'UPDATE room SET note = ? WHERE house = ? AND number = ?',
          token,
          random.pick(HOUSES),
          random.below(2),
        ),
      ];
    case 'drop room':
      return [statement('DELETE FROM room WHERE house = ? AND number = ?', random.pick(HOUSES), random.below(2))];
    case 'guest':
    case 'loose guest':
      return [
        statement(
          `INSERT INTO ${roomChild(subject === 'guest' ? random.pick(ROOM_RULES) : 'set null')} (id, house, number, note) SELECT ?1, house, number, ?1 FROM room ORDER BY house = ? DESC LIMIT 1`,
          token,
          random.pick(HOUSES),
        ),
      ];
    case 'half guest': {
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
    }
    case 'move guest':
    case 'move loose guest': {
      const table = roomChild(subject === 'move guest' ? random.pick(ROOM_RULES) : 'set null');
      const number = random.pick([null, random.below(2)]);
      return [
        statement(
          `UPDATE ${table} SET house = ?, number = ?, note = ? WHERE id = ?`,
          random.pick(HOUSES),
          number,
          token,
          pickId(tab, random, table),
        ),
      ];
    }
    case 'project':
      return [statement('INSERT INTO project (id, title) VALUES (?1, ?1)', token)];
    case 'project title':
      return [statement('UPDATE project SET title = ? WHERE id = ?', token, some('project'))];
    case 'drop project':
      return [statement('DELETE FROM project WHERE id = ?', some('project'))];
    case 'task':
      return [
        statement(
          'INSERT INTO task (id, project_id, note) SELECT ?1, id, ?1 FROM project WHERE id = ?2',
          token,
          some('project'),
        ),
      ];
    case 'move task':
      return [statement('UPDATE task SET project_id = ?, note = ? WHERE id = ?', some('project'), token, some('task'))];
    case 'tag':
      return [
        statement(
          'INSERT INTO tag (house, word) VALUES (?, ?) ON CONFLICT DO NOTHING',
          random.pick(HOUSES),
          random.pick(['old', 'new']),
        ),
      ];
    case 'drop tag':
      return [statement('DELETE FROM tag WHERE rowid = (SELECT max(rowid) FROM tag)')];
    case 'draft':
      return [statement('INSERT INTO draft (id, content) VALUES (?, ?)', draftId(token), token)];
    default:
      return pageStatements(pagesSeen(tab), random, token, subject);
  }
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

/** Together with its children. */
function changeAccountKey(key: string, account: string | null): SqlStatement[] {
  return [
    statement('PRAGMA defer_foreign_keys = ON'),
    statement('UPDATE account SET id = ?1, note = ?1 WHERE id = ?2', key, account),
    ...['entry', 'label'].map((table) =>
      statement(`UPDATE ${table} SET account_id = ? WHERE account_id = ?`, key, account),
    ),
  ];
}

/**
 * Conflict-log entries that can be restored on their own. The two halves of a pair and pages need more than one entry.
 */
export function conflictsSeen(tab: Tab): Loss[] {
  const rows = rowsOf(
    tab,
    "SELECT id, table_name, row_key ->> 0, lost_value FROM rockpool_conflict WHERE table_name NOT IN ('half', 'mark') AND path IS NOT '[\"left\"]' AND path IS NOT '[\"right\"]' ORDER BY id",
  );
  return rows.map(([id, table, key, lost]) => ({
    id: String(id),
    table: String(table),
    key: String(key),
    lost: lost as SqlParam,
  }));
}

/** A conflict-log entry. */
export interface Loss {
  readonly id: string;
  readonly table: string;
  /** The first part of the row's key. */
  readonly key: string;
  readonly lost: SqlParam;
}

/** As the tab sees them. */
export function pagesSeen(tab: Tab): SeenPage[] {
  return rowsOf(tab, 'SELECT id, content FROM page ORDER BY id').map(([pageId, content]) => ({
    id: String(pageId),
    content: content as string | null,
  }));
}

function pickId(tab: Tab, random: Random, table: string): string | null {
  // Few rows, so that devices meet in them.
  const ids = rowsOf(tab, `SELECT id FROM ${table} ORDER BY id DESC LIMIT 4`).flat() as string[];
  return ids.length === 0 ? null : random.pick(ids);
}

function rowsOf(tab: Tab, sql: string): unknown[][] {
  const database = tab.view;
  if (database === null) return [];
  try {
    return tab.run(() => database.connection.rows(sql));
  } catch {
    return []; // A reader whose snapshot has gone; the next one sees more.
  }
}

/** Integer keys of local rows, one per token. */
export function draftId(token: string): number {
  let id = 0;
  for (const character of token) id = (id * 31 + character.charCodeAt(0)) % 2_147_483_647;
  return id;
}

/** Makes the counters. */
export function firstTransaction(tab: Tab, mark: string): SqlStatement[] {
  return [
    statement("INSERT INTO mark (id, author, tally_id, delta) VALUES (?, ?, '', 0)", mark, tab.device.name),
    ...TALLIES.map((tally) => statement('INSERT INTO tally (id) VALUES (?)', tally)),
  ];
}
