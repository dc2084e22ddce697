import type { Tally } from './tally.ts';

/** The names in a history's tally of checks that could not be decided. */
export const SILENT = {
  otherEpoch: 'not compared: another log epoch',
  unknownContent: 'not compared: content at the cursor not known',
  updatedApp: 'not compared: the app was updated',
  recreatedCounters: 'counters of a device not checked: it has re-created them',
} as const;

interface Ceiling {
  /** The beginning of the names in the tally. */
  readonly passes: string;
  readonly of: string;
  /** The largest share of `of`, over a whole run. It is about twice the share in 100 histories. */
  readonly share: number;
}

/** How often the checks of a run may pass because they cannot decide. */
const CEILINGS: readonly Ceiling[] = [
  { passes: SILENT.otherEpoch, of: 'comparison at a cursor', share: 0.12 },
  { passes: SILENT.unknownContent, of: 'comparison at a cursor', share: 0.02 },
  { passes: SILENT.updatedApp, of: 'comparison at a cursor', share: 0.02 },
  { passes: SILENT.recreatedCounters, of: 'comparison at a cursor', share: 0.005 },
  { passes: 'oracle: changeset that is not known', of: 'oracle: changeset judged', share: 0.03 },
  { passes: 'oracle: row taken over', of: 'oracle: changeset judged', share: 0.05 },
  { passes: 'oracle: open row', of: 'oracle: changeset judged', share: 0.12 },
  { passes: 'oracle: open rejection', of: 'oracle: rejection judged', share: 0.4 },
  { passes: 'oracle: rejection not judged', of: 'oracle: rejection judged', share: 0.25 },
  { passes: 'merge of a branch not judged', of: 'branch merged', share: 0.2 },
  { passes: 'restore not judged', of: 'transaction taken back', share: 0.2 },
  // With several instances, a push that a network has held back may arrive after the withdrawal is decided (0123).
  { passes: 'withdrawal not judged', of: 'transaction withdrawn', share: 0.2 },
  // A few histories have most of the open rows: the share was between 4 and 65 % over 20 histories, and 28 % over 240.
  { passes: 'oracle: entry not judged', of: 'oracle: entry judged', share: 0.5 },
];

/** With fewer histories, a share above its ceiling may be chance. */
const FEWEST_HISTORIES = 100;

export interface SilentPass extends Ceiling {
  readonly times: number;
  readonly ofTimes: number;
}

/** All counted passes of a run. */
export function silentPasses(tally: Tally): SilentPass[] {
  return CEILINGS.map((ceiling) => {
    const names = [...tally.counts.keys()].filter((name) => name.startsWith(ceiling.passes));
    const times = names.reduce((sum, name) => sum + tally.of(name), 0);
    return { ...ceiling, times, ofTimes: tally.of(ceiling.of) };
  });
}

export function silentPassesAsText(tally: Tally): string {
  return silentPasses(tally)
    .map(({ passes, times, of, ofTimes, share }) => `${passes}: ${times} (${of}: ${ofTimes}; at most ${share * 100} %)`)
    .join('\n');
}

/** Returns what passed too often in a run of this many histories. */
export function tooManySilentPasses(tally: Tally, histories: number): string[] {
  if (histories < FEWEST_HISTORIES) return [];
  return silentPasses(tally)
    .filter(({ times, ofTimes, share }) => times > share * ofTimes)
    .map(
      ({ passes, times, of, ofTimes, share }) => `${passes}: ${times} with ${ofTimes} of ${of}, above ${share * 100} %`,
    );
}
