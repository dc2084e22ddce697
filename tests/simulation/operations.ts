import { Random } from './random.ts';

/** Everything that can happen in a history, with how often it does. */
const WEIGHTS = {
  write: 60,
  burst: 4,
  'edit page': 4,
  pause: 8,
  'long pause': 2,
  cut: 5,
  'half-open': 2,
  partition: 3,
  'heal partition': 5,
  slow: 2,
  'double frame': 2,
  'swap frames': 1,
  'kill tab': 2,
  'kill in storage': 4,
  'kill at send': 2,
  'close tab': 1,
  'open tab': 4,
  suspend: 2,
  resume: 4,
  freeze: 1,
  'lose notices': 2,
  'clock jump': 2,
  'clock rate': 2,
  'kill server': 2,
  'kill server at statement': 2,
  'kill server at send': 2,
  'start server': 6,
  'stall server': 2,
  'late push': 3,
  meet: 3,
  'at once': 2,
  'forgotten delete': 1,
  'retry parked': 2,
  'drop parked': 1,
  'copy profile': 0.5,
  'back up server': 1.5,
  'restore server': 0.7,
  'restore behind': 1,
  'edit beside withheld': 1,
  look: 3,
} as const;

export type OperationKind = keyof typeof WEIGHTS;

/** One step. Whatever it has to choose, it chooses from its own seed, so that dropping another step changes as little as can be. */
export interface Operation {
  readonly number: number;
  readonly kind: OperationKind;
  /** Which device, of as many as there are. */
  readonly device: number;
  readonly seed: number;
}

export interface Plan {
  readonly seed: number;
  readonly devices: number;
  readonly operations: readonly Operation[];
}

/** How large histories are. */
export interface Size {
  readonly devices: readonly [atLeast: number, atMost: number];
  readonly operations: readonly [atLeast: number, atMost: number];
}

const KINDS = (Object.keys(WEIGHTS) as OperationKind[]).flatMap((kind) => Array.from({ length: 10 * WEIGHTS[kind] }, () => kind));

// A device and its unnoticed copy both give a restored server back what they share: known to count twice (docs/decisions), so no history has both.
const EITHER_OR: readonly (readonly OperationKind[])[] = [['copy profile'], ['back up server', 'restore server', 'restore behind']];

export function planHistory(seed: number, size: Size): Plan {
  const random = new Random(seed);
  const between = ([atLeast, atMost]: readonly [number, number]): number => atLeast + random.below(atMost - atLeast + 1);
  const devices = between(size.devices);
  const count = between(size.operations);
  const without = random.pick(EITHER_OR);
  const kinds = KINDS.filter((kind) => !without.includes(kind));
  const operations = Array.from({ length: count }, (_, number): Operation => ({ number, kind: random.pick(kinds), device: random.below(devices), seed: random.below(2 ** 31) }));
  return { seed, devices, operations };
}
