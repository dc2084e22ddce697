import type { Destination, StoredObject } from './destination.ts';
import { readCopies, type CopiesOfSource } from './generations.ts';
import { DATABASES, readCopyKey } from './object-names.ts';

/** A base that is still incomplete after this time will never be complete. */
const UNFINISHED_MS = 7 * 86_400_000;

/** Kept at the destination, so that it also limits a server that is restarted. */
const CLOCK = 'retention.json';

/** Far more than the time between two passes, so that a server that was stopped for weeks catches up in days. */
const MAX_ADVANCE_MS = 86_400_000;

/**
 * Returns the present time for deletions: that of the server, but at most a day later than in the pass before. A clock
 * that is far ahead thus deletes a day of history in a pass, not all of it. Null in the first pass, which deletes
 * nothing.
 *
 * The stored time never goes back, and the first one is at least that of the newest copy: after a clock that is behind,
 * such as that of a machine that has just started, each pass would catch up by one day only.
 */
export async function advanceClock(destination: Destination, nowMs: number): Promise<number | null> {
  const lastMs = readClock(await destination.get(CLOCK));
  const trustedMs = lastMs === null ? nowMs : Math.min(nowMs, lastMs + MAX_ADVANCE_MS);
  const storedMs = Math.max(trustedMs, lastMs ?? (await newestCopyMs(destination)));
  await destination.put(CLOCK, new TextEncoder().encode(JSON.stringify({ nowMs: storedMs })));
  return lastMs === null ? null : trustedMs;
}

async function newestCopyMs(destination: Destination): Promise<number> {
  let newestMs = 0;
  for await (const { key } of destination.list(DATABASES)) newestMs = Math.max(newestMs, readCopyKey(key)?.timeMs ?? 0);
  return newestMs;
}

function readClock(content: Uint8Array | null): number | null {
  if (content === null) return null;
  try {
    const { nowMs } = JSON.parse(new TextDecoder().decode(content)) as { readonly nowMs?: unknown };
    return typeof nowMs === 'number' ? nowMs : null;
  } catch {
    return null;
  }
}

/** Deletes the copies that no moment since `sinceMs` needs. Returns the number of deleted objects. */
export async function deleteExpired(destination: Destination, sinceMs: number): Promise<number> {
  let deleted = 0;
  for await (const objects of objectsBySource(destination)) {
    const expired = expiredKeys(readCopies(objects), sinceMs);
    if (expired.length > 0) await destination.delete(expired);
    deleted += expired.length;
  }
  return deleted;
}

/**
 * The newest complete generation is kept at any age, because a database that is no longer changed has no other copy.
 * Nothing is kept of a database that was deleted before `sinceMs`.
 */
export function expiredKeys({ generations, deletions, keys }: CopiesOfSource, sinceMs: number): readonly string[] {
  const whole = generations.filter(({ base }) => base !== null);
  // A database that was created again may be in its first copy.
  const lastStartMs = startOf(generations.at(-1)?.id ?? '0-');
  const lastDeletionMs = deletions.at(-1);
  if (lastDeletionMs !== undefined && lastDeletionMs <= sinceMs && lastStartMs <= lastDeletionMs) return keys;
  const needed = whole.findLast(({ base }) => base !== null && base.timeMs <= sinceMs) ?? whole[0];
  return generations
    .filter(({ id, base }) =>
      base === null ? startOf(id) < sinceMs - UNFINISHED_MS : needed !== undefined && id < needed.id,
    )
    .flatMap((generation) => generation.keys);
}

function startOf(generation: string): number {
  return Number(generation.slice(0, generation.indexOf('-')));
}

/** The objects of each source, grouped by source. */
export async function* objectsBySource(destination: Destination): AsyncGenerator<StoredObject[]> {
  let source = '';
  let objects: StoredObject[] = [];
  for await (const object of destination.list(DATABASES)) {
    const own = sourceOf(object.key);
    if (own !== source && objects.length > 0) {
      yield objects;
      objects = [];
    }
    source = own;
    objects.push(object);
  }
  if (objects.length > 0) yield objects;
}

export function sourceOf(key: string): string {
  return key.slice(DATABASES.length, key.indexOf('/', DATABASES.length));
}
