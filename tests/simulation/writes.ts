import type { SqlStatement } from '#client/rpc/sql-statement.ts';
import { TALLIES } from './household-schema.ts';
import { PAGE_SUBJECTS } from './page-writes.ts';
import type { Random } from './random.ts';
import { statement, subjectStatements, type Subject } from './subject-writes.ts';
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
    // A device that does not have the counter yet adds 0.
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

/** Makes the counters. */
export function firstTransaction(tab: Tab, mark: string): SqlStatement[] {
  return [
    statement("INSERT INTO mark (id, author, tally_id, delta) VALUES (?, ?, '', 0)", mark, tab.device.name),
    ...TALLIES.map((tally) => statement('INSERT INTO tally (id) VALUES (?)', tally)),
  ];
}
