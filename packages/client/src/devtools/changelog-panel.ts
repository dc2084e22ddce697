import { element, table, time } from './dom.ts';
import type { MakePanel } from './panel.ts';

const MOST_CHANGESETS = 100;
const US_PER_MS = 1000;

/** The newest changesets of this device with their outcomes. */
export const changelogPanel: MakePanel = (client) => ({
  title: 'Changelog',
  isLive: true,
  async draw(into) {
    const rows = await client.query<{ sequence: number; us: number; size: number; state: string }>(
      `SELECT sequence, stamp_us AS us, length(body) AS size, coalesce(
         (SELECT CASE closed WHEN 1 THEN 'resolved' ELSE 'rejected: ' || code END FROM rockpool_parked AS rejected WHERE rejected.sequence = log.sequence),
         CASE WHEN sequence > coalesce((SELECT max(up_to) FROM rockpool_decided), 0) THEN 'pending' ELSE 'admitted' END) AS state
       FROM rockpool_changelog AS log ORDER BY sequence DESC LIMIT ${MOST_CHANGESETS}`,
    );
    // Counts changesets itself, because without a server the status reports none as pending.
    const [counts] = await client.query<{
      pendingCount: number;
      rejectedCount: number;
      packedCount: number;
    }>(
      `SELECT (SELECT count(*) FROM rockpool_changelog WHERE sequence > coalesce((SELECT max(up_to) FROM rockpool_decided), 0)) AS pendingCount,
         (SELECT count(*) FROM rockpool_parked WHERE closed = 0) AS rejectedCount,
         (SELECT ifnull(sum(last - first + 1), 0) FROM rockpool_changelog_pack) AS packedCount`,
    );
    into.replaceChildren(
      element(
        'p',
        '',
        `${counts?.pendingCount ?? 0} pending, ${counts?.rejectedCount ?? 0} rejected, ${counts?.packedCount ?? 0} admitted and packed`,
      ),
      table(
        ['number', 'written', 'bytes', 'outcome'],
        rows.map(({ sequence, us, size, state }) => [sequence, time(us / US_PER_MS), size, state]),
      ),
    );
  },
});
