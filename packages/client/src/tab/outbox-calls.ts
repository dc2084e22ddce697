import type { Remote } from 'comlink';
import type { Outbox } from '../interface/outbox.ts';
import type { WaitingChangeset } from '../rpc/rejected-changeset.ts';
import type { StatementOutcome } from '../rpc/sql-statement.ts';
import type { WorkerApi } from '../rpc/worker-api.ts';
import type { WriteAction } from '../rpc/write-action.ts';

/** What the calls use of a ClientSession. */
interface Session {
  call<T>(run: (worker: Remote<WorkerApi>) => Promise<T>): Promise<T>;
  write(statements: readonly never[], action: WriteAction): Promise<readonly StatementOutcome[]>;
}

/** See Outbox.list. */
export function listWaiting(
  session: Session,
  { limit = 100 }: NonNullable<Parameters<Outbox['list']>[0]> = {},
): Promise<WaitingChangeset[]> {
  return session.call((worker) => worker.waiting(limit));
}

/** See Outbox.withdraw. */
export async function withdraw(session: Session, id: string): Promise<boolean> {
  return (await session.write([], { kind: 'withdraw', id })).length > 0;
}
