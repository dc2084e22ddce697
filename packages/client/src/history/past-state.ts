import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { PastMoment, PastState } from '../interface/past-state.ts';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlParam, SqlRow } from '../rpc/sql-value.ts';
import type { PastAnswer, PastAsk, PastFacts } from '../rpc/past-state.ts';
import { decodeRows, type EncodedRows } from '../rpc/rows-transfer.ts';
import { toStatement } from '../tab/sql.ts';

export interface PastStateSource {
  readonly newId: () => string;
  readonly ask: (ask: PastAsk) => Promise<PastAnswer>;
}

/** The transaction of a named version. */
export interface ChangesetMoment {
  readonly siteId: string;
  readonly sequence: number;
}

/** A past moment. In place of the name of a version, it has the transaction of that version. */
export type KnownMoment = Exclude<PastMoment, { readonly name: string }> | ChangesetMoment;

/** See Client.past. */
export async function openPastState({ newId, ask }: PastStateSource, moment: KnownMoment): Promise<PastState> {
  const id = newId();
  const facts = (await ask({ kind: 'open', id, moment: momentQuery(moment) })) as PastFacts;
  let closed = false;
  let reopening: Promise<PastAnswer> | null = null;
  const requireOpen = (): void => {
    if (closed) throw new RockpoolError('client-closed', { closed: 'past state' });
  };
  /** Opens the state again, once for all queries that wait for it: the worker was restarted and its memory is lost. */
  const reopen = (): Promise<PastAnswer> =>
    (reopening ??= ask({ kind: 'open', id, moment: momentQuery({ version: facts.version }) }).finally(() => {
      reopening = null;
    }));
  const rowsOf = async (statement: SqlStatement): Promise<EncodedRows> => {
    requireOpen();
    const rows = await ask({ kind: 'query', id, statement });
    if (rows !== null) return rows as EncodedRows;
    requireOpen();
    await reopen();
    return (await ask({ kind: 'query', id, statement })) as EncodedRows;
  };
  return {
    ...facts,
    async query<Row extends object = SqlRow>(given: SqlStatement | string, params?: readonly SqlParam[]) {
      return decodeRows(await rowsOf(toStatement(given, params))) as Row[];
    },
    async close() {
      if (closed) return;
      closed = true;
      await reopening?.catch(() => undefined);
      await ask({ kind: 'close', id }).catch((thrown: unknown) => {
        // The memory of a closed client is free.
        if (toRockpoolError(thrown).code !== 'client-closed') throw thrown;
      });
    },
  };
}

/** Throws `request-invalid` for a moment that is neither a time nor a version. */
function momentQuery(moment: KnownMoment): string {
  if ('siteId' in moment) return `site=${moment.siteId}&sequence=${moment.sequence}`;
  const [name, value] = 'version' in moment ? ['watermark', moment.version] : ['time', Math.floor(Number(moment.time))];
  if (!Number.isSafeInteger(value) || value < 1)
    throw new RockpoolError('request-invalid', { problem: 'pass a time or a version' });
  return `${name}=${value}`;
}
