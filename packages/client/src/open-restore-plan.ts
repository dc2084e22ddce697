import { RockpoolError } from '@rockpool/shared';
import type { BranchDocuments } from './branch/changed-rows.ts';
import type { Client } from './client.ts';
import type { ClientOptions } from './interface/client-options.ts';
import type { RestorePlan, RestoreSelection } from './interface/restore-plan.ts';
import type { SqlRow } from './rpc/sql-value.ts';
import type { ClientSession } from './client-session.ts';
import { planRestore } from './restore/restore-plan.ts';

/** Deliveries in flight arrive within this time; otherwise sync is not running. */
const APPLIED_WITHIN_MS = 15_000;
const LOOK_AGAIN_MS = 50;

/** See Client.planRestore. */
export async function openRestorePlan(
  client: Pick<Client, 'query' | 'transaction' | 'sync'>,
  session: Pick<ClientSession, 'call'>,
  { schema, sync }: Pick<ClientOptions, 'schema' | 'sync'>,
  asked: { readonly selection: RestoreSelection; readonly loadDocuments: () => Promise<BranchDocuments> },
): Promise<RestorePlan> {
  const { selection, loadDocuments } = asked;
  if (sync === undefined) throw new RockpoolError('config-invalid', { problem: 'no sync server is configured' });
  return planRestore(
    {
      client,
      schema,
      request: (path) => session.call((worker) => worker.request(path)),
      async requireSent({ site, author, fromMs = 0, toMs = Number.MAX_SAFE_INTEGER, version }) {
        if (version !== undefined) return;
        const own = await ownSite(client);
        if (site !== undefined && site !== own) return;
        if (author !== undefined && sync.principal !== undefined && author !== sync.principal) return;
        const pendingCount = await pendingBetween(client, fromMs, toMs);
        if (pendingCount > 0) throw new RockpoolError('changes-unsent', { pendingCount, rejectedCount: 0 });
      },
      async untilApplied(watermark) {
        for (const deadlineMs = performance.now() + APPLIED_WITHIN_MS; (await cursorOf(client)) < watermark;) {
          if (performance.now() > deadlineMs) throw new RockpoolError('network-unreachable', { stage: 'deliveries' });
          await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
        }
      },
      loadDocuments,
    },
    selection,
  );
}

async function first(client: Pick<Client, 'query'>, sql: string, params: readonly number[] = []): Promise<SqlRow> {
  return (await client.query(sql, params))[0] ?? {};
}

async function ownSite(client: Pick<Client, 'query'>): Promise<string> {
  const { id } = await first(client, "SELECT lower(hex(value)) AS id FROM rockpool_meta WHERE key = 'site_id'");
  return String(id);
}

async function cursorOf(client: Pick<Client, 'query'>): Promise<number> {
  const { cursor } = await first(client, "SELECT value AS cursor FROM rockpool_meta WHERE key = 'cursor'");
  return Number(cursor ?? 0);
}

/** Counts the transactions of this device in a period that the server has not acknowledged. */
async function pendingBetween(client: Pick<Client, 'query'>, fromMs: number, toMs: number): Promise<number> {
  const { count } = await first(
    client,
    `SELECT count(*) AS count FROM rockpool_changelog
     WHERE sequence > coalesce((SELECT max(up_to) FROM rockpool_decided), 0)
       AND (stamp_us + shift_us) / 1000 BETWEEN ? AND ?`,
    [fromMs, toMs],
  );
  return Number(count);
}
