import type { SqlParam, SqlStatement, StatementResult } from '@rockpool/client';
import type { Writer } from './writer.ts';

type Changes = Pick<StatementResult, 'changes'>;

export interface CountedWriter {
  readonly writer: Writer;
  /** The number of transactions so far that changed rows. */
  readonly count: () => number;
}

/**
 * Counts the transactions of an action, each of which is a step of `client.undo`. It does not count calls of
 * `transaction`. The statements must match only rows that they change.
 */
export function countedWriter(writer: Writer): CountedWriter {
  let count = 0;
  const counted = async <R extends Changes | readonly Changes[]>(write: Promise<R>): Promise<R> => {
    const result = await write;
    if ([result].flat().some(({ changes }) => changes > 0)) count += 1;
    return result;
  };
  return {
    count: () => count,
    writer: {
      ...writer,
      batch: (statements, options) => counted(writer.batch(statements, options)),
      execute: (given: SqlStatement | string, params?: readonly SqlParam[]) =>
        counted(typeof given === 'string' ? writer.execute(given, params) : writer.execute(given)),
    },
  };
}
