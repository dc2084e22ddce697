import { describe, expect, it } from 'vitest';
import { changesBetween, judgeMerge, type Judgement } from './merged-rows.ts';
import { ORACLE_TABLES, toLine, type Literal, type OracleTable, type TableTexts } from './oracle/tables.ts';

type Row = readonly [table: string, key: readonly Literal[], values?: Readonly<Record<string, Literal>>];

function tables(...rows: readonly Row[]): TableTexts {
  const texts = new Map<string, string>();
  for (const [name, key, values = {}] of rows) {
    const line = toLine(ORACLE_TABLES.get(name) as OracleTable, key, new Map(Object.entries(values)));
    texts.set(name, [...(texts.get(name)?.split('\u001e') ?? []), line].join('\u001e'));
  }
  return texts;
}

const goal = (low: string, high: string): Row => [
  'goal',
  ["'2026-10'", '1'],
  { low, high, width: String(Number(high) - Number(low)), note: "'n'" },
];
const tally = (hits: string): Row => ['tally', ["'even'"], { hits }];
const account: Row = ['account', ["'a'"], { name: "'Cash'" }];
const entry = (note: string): Row => ['entry', ["'e'"], { account_id: "'a'", amount: '1', note }];
const label: Row = ['label', ["'l'"], { account_id: "'a'" }];

interface Case {
  readonly base: readonly Row[];
  readonly wanted: readonly Row[];
  readonly before: readonly Row[];
  readonly after: readonly Row[];
  readonly keepsCurrent?: boolean;
}

const fault = (merge: Case): Judgement['fault'] => judged(merge).fault;

function judged({ base, wanted, before, after, keepsCurrent = false }: Case): Judgement {
  return judgeMerge({
    changes: changesBetween(tables(...base), tables(...wanted)),
    before: tables(...before),
    after: tables(...after),
    keepsCurrent,
  });
}

describe('the rows after a merge', () => {
  it('have the sum of both additions to a counter', () => {
    const added = { base: [tally('1')], wanted: [tally('3')], before: [tally('10')] };
    expect(fault({ ...added, after: [tally('12')] })).toBeNull();
    expect(fault({ ...added, after: [tally('3')] })).toBe("hits of tally 'even' is 3 instead of 12");
  });

  it('take a group as a whole from the side that the decision names', () => {
    const both = { base: [goal('1', '5')], wanted: [goal('2', '5')], before: [goal('1', '9')] };
    expect(fault({ ...both, after: [goal('2', '5')] })).toBeNull();
    expect(fault({ ...both, after: [goal('2', '9')] })).not.toBeNull();
    expect(fault({ ...both, after: [goal('1', '9')], keepsCurrent: true })).toBeNull();
    expect(fault({ ...both, after: [goal('2', '5')], keepsCurrent: true })).not.toBeNull();
  });

  it('lack only the children of a deleted row', () => {
    const gone = { base: [account], wanted: [], before: [account, entry("'later'")] };
    expect(fault({ ...gone, after: [] })).toBeNull();
    expect(fault({ ...gone, after: [entry("'later'")] })).toBe("entry 'e' is there");
    expect(fault({ ...gone, before: [account, label], after: [label] })).toBe("label 'l' was left without its parent");
    expect(fault({ ...gone, before: [account, tally('1')], after: [] })).toBe("tally 'even' is not there");
  });

  it('include a row that has been deleted since, if the decision restores it', () => {
    const again = { base: [account, entry("'old'")], wanted: [account, entry("'new'")], before: [account] };
    expect(fault({ ...again, after: [account, entry("'new'")] })).toBeNull();
    expect(fault({ ...again, after: [account], keepsCurrent: true })).toBeNull();
    expect(fault({ ...again, after: [account] })).toBe("entry 'e' is not there");
  });

  it('have a conflict where both sides changed one value or row differently', () => {
    const conflicts = (merge: Omit<Case, 'after'>): boolean | null => judged({ ...merge, after: [] }).hasConflicts;
    expect(conflicts({ base: [goal('1', '5')], wanted: [goal('2', '5')], before: [goal('1', '9')] })).toBe(true);
    expect(conflicts({ base: [goal('1', '5')], wanted: [goal('2', '5')], before: [goal('1', '5')] })).toBe(false);
    expect(conflicts({ base: [goal('1', '5')], wanted: [goal('2', '5')], before: [] })).toBe(true);
    expect(conflicts({ base: [], wanted: [goal('2', '5')], before: [] })).toBe(false);
    expect(conflicts({ base: [tally('1')], wanted: [tally('3')], before: [tally('10')] })).toBe(false);
    // A delete may affect rows that others have written.
    expect(conflicts({ base: [account], wanted: [], before: [account] })).toBeNull();
  });

  it('are not judged if only the affected rows decide whether a delete applies', () => {
    expect(
      fault({ base: [account], wanted: [], before: [account, entry("'x'")], after: [], keepsCurrent: true }),
    ).toBeUndefined();
  });
});
