import type { ErrorData } from '@rockpool/shared';
import type { LastSession, SessionFacts } from '../session/devices.ts';
import type { Rejection, StoredSite } from '../store/inspect-sites.ts';

/** A device as shown to an operator: what its site wrote, its session, and how its last session ended. */
export interface DeviceState {
  readonly site: string;
  readonly principal: string;
  /** `joining`: connected, and waiting for its database or its first delivery. */
  readonly state: 'online' | 'joining' | 'offline';
  readonly address: string | null;
  /** When the server last received a message of the device. Null if it has sent none since the server started. */
  readonly lastSeenMs: number | null;
  /** When its last admitted changeset arrived. Null if none was admitted. */
  readonly lastWriteMs: number | null;
  /** The watermark up to which it has stored the log. Null if unknown, because it has neither written nor confirmed. */
  readonly confirmedCursor: number | null;
  /** The number of changesets that the device has not confirmed. */
  readonly lag: number | null;
  /**
   * The error that ended its last session, if it has no session now. The device syncs again once the cause is fixed.
   */
  readonly blockedBy: ErrorData | null;
  readonly rejections: readonly Rejection[];
  readonly canWrite: boolean | null;
  readonly unreadBytes: number;
  readonly waitingPushBytes: number;
}

export interface DeviceSources {
  readonly watermark: number;
  readonly sites: readonly StoredSite[];
  readonly sessions: readonly SessionFacts[];
  readonly lastSessions: readonly LastSession[];
}

/** Returns the devices of a database: those with sessions first, then by their last sync, the latest first. */
export function deviceStates({ watermark, sites, sessions, lastSessions }: DeviceSources): DeviceState[] {
  const stored = new Map(sites.map((site) => [site.site, site]));
  const open = new Map(sessions.map((session) => [session.site, session]));
  const last = new Map(lastSessions.map((one) => [one.site, one]));
  return [...new Set([...open.keys(), ...last.keys(), ...stored.keys()])]
    .map((site) => deviceState(site, watermark, stored.get(site), open.get(site), last.get(site)))
    .sort(byActivity);
}

function deviceState(
  site: string,
  watermark: number,
  stored: StoredSite | undefined,
  session: SessionFacts | undefined,
  last: LastSession | undefined,
): DeviceState {
  const confirmedCursor = session?.confirmedCursor ?? stored?.confirmedCursor ?? null;
  return {
    site,
    principal: session?.principal ?? last?.principal ?? stored?.principal ?? '',
    state: session === undefined ? 'offline' : session.isJoined ? 'online' : 'joining',
    address: session?.address ?? last?.address ?? null,
    lastSeenMs: session?.lastHeardMs ?? last?.endedAtMs ?? null,
    lastWriteMs: stored?.lastWriteMs ?? null,
    confirmedCursor,
    lag: confirmedCursor === null ? null : Math.max(0, watermark - confirmedCursor),
    blockedBy: session === undefined ? (last?.error ?? null) : null,
    rejections: stored?.rejections ?? [],
    canWrite: session?.canWrite ?? null,
    unreadBytes: session?.unreadBytes ?? 0,
    waitingPushBytes: session?.waitingPushBytes ?? 0,
  };
}

function byActivity(a: DeviceState, b: DeviceState): number {
  const rank = ({ state, lastSeenMs, lastWriteMs }: DeviceState): number =>
    state === 'offline' ? (lastSeenMs ?? lastWriteMs ?? 0) : Infinity;
  const [first, second] = [rank(a), rank(b)];
  return first === second ? (a.site < b.site ? -1 : 1) : second - first;
}
