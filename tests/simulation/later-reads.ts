import { RockpoolError } from '#shared/index.ts';
import { decodeRows } from '#client/rpc/rows-transfer.ts';
import type { AskForTexts } from './table-texts.ts';
import type { Tab } from './tab.ts';

/**
 * Runs a check on the results of a tab's own reads, as its page would see them: through the leader, while a transaction
 * is open, or once the medium has stored the data. The check must run the same queries whatever their results are, as
 * long as it finds no fault.
 */
export async function checkLater<T>(tab: Tab, check: (ask: AskForTexts) => T): Promise<T> {
  const questions: string[] = [];
  check((sql) => {
    questions.push(sql);
    return [];
  });
  const results = await tab.run(() => tab.membership.reads.queryAll(questions.map((sql) => ({ sql, params: [] }))));
  const answers = new Map(
    results.map((result, index) => {
      if ('error' in result) throw RockpoolError.fromData(result.error);
      const [row] = decodeRows(result.rows) as object[];
      const values: unknown[] = Object.values(row ?? {});
      return [questions[index] ?? '', values.map((value) => (typeof value === 'string' ? value : null))];
    }),
  );
  return check((sql) => answers.get(sql) ?? []);
}
