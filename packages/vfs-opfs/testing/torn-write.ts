import type { DiskCall } from './disk-call.ts';

/** The unit that a disk is assumed to write completely or not at all. */
const SECTOR_BYTES = 512;

/** Returns numbers from 0 to 1. A seeded source makes a failing run repeatable. */
export type Random = () => number;

/** Replaces one of the writes with some of its sectors. */
export function tear(calls: readonly DiskCall[], random: Random): readonly DiskCall[] {
  const writes = calls.filter((call) => call.kind === 'write');
  const victim = writes[Math.floor(random() * writes.length)];
  if (victim === undefined) return calls;
  return calls.flatMap((call) => (call === victim ? sectorsOf(victim).filter(() => random() < 0.5) : [call]));
}

function sectorsOf(write: Extract<DiskCall, { kind: 'write' }>): DiskCall[] {
  const sectors: DiskCall[] = [];
  for (let from = 0; from < write.bytes.length;) {
    const to = Math.min(write.bytes.length, from + SECTOR_BYTES - ((write.at + from) % SECTOR_BYTES));
    sectors.push({ kind: 'write', file: write.file, at: write.at + from, bytes: write.bytes.subarray(from, to) });
    from = to;
  }
  return sectors;
}
