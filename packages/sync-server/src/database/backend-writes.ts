import { RockpoolError } from '@rockpool/shared';
import type { WaitingPush } from '../admission/admit-pushes.ts';
import type { PushQueue } from '../admission/push-queue.ts';
import { outcomesAfter } from '../log/outcomes.ts';
import type { SiteState } from '../log/sites.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { ownPush, ownSite } from './own-site.ts';

/** A changeset of the server's own program. */
export interface BackendWrite {
  /** A changeset body, built from the current state of the file. */
  readonly body: Uint8Array;
  readonly principal: string;
  readonly nowMs: number;
}

/**
 * Admits a changeset of the server's own program like a client's push. Resolves with its watermark once it is durable;
 * rejects with the reason why it was rejected or could not be stored.
 */
export async function writeFromBackend(
  file: DatabaseFile,
  queue: PushQueue,
  { body, principal, nowMs }: BackendWrite,
): Promise<number> {
  const base = file.log.watermark;
  let site = '';
  let sequence = 0;
  const take = (): WaitingPush => {
    site = ownSite(file);
    const push = ownPush(file, site, body, base, nowMs);
    sequence = push.changesets.at(-1)?.sequence ?? 0;
    return { site, push, sender: { principal, receivedMs: nowMs, isForeign: false } };
  };
  const refusal = await new Promise<RockpoolError | null>((settled) => {
    queue.pushLate(site, body.length, take, settled);
    void queue.drainAll();
  });
  if (refusal !== null) throw refusal;
  const { number } = file.sites.get(site) as SiteState;
  const outcome = outcomesAfter(file.sql, number, sequence - 1).find(
    (stored) => stored.outcome.sequence === sequence,
  )?.outcome;
  queue.confirm({ site, cursor: file.log.watermark, lastAckedSequence: sequence });
  if (outcome?.kind === 'admitted') return outcome.watermark;
  throw new RockpoolError(outcome?.code ?? 'internal', outcome?.fields);
}
