import { keepsHistory } from './past-check.ts';
import { Random } from './random.ts';
import { chooseOperated, chooseVariant, type Variant } from './variant.ts';

/** Everything that can happen in a history, with its weight. */
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
  'retry rejected': 2,
  'drop rejected': 1,
  'copy profile': 0.5,
  'back up server': 1.5,
  'restore server': 0.7,
  'restore behind': 1,
  'edit beside masked': 1,
  look: 3,
} as const;

/**
 * The weights of operations that were added later. They are drawn from a separate stream and inserted between the
 * others, so that existing seeds keep their meaning.
 */
const LATER_WEIGHTS = {
  'compact documents': 3,
  'edit compacted': 2,
  'change keys': 2,
  'edit deleted trip': 2,
  'count apart': 1,
  'restore a loss': 4,
  'meet in rooms': 3,
  'tag apart': 2,
  'kill server in commit': 2,
  'power cut of server': 3,
  'power cut of client': 3,
  'fail server disk': 1,
  'open elsewhere': 2,
  'open transaction': 6,
  'lose answers': 2,
  'double asks': 1,
  'fill storage': 3,
  'fill server disk': 2,
  'change role': 4,
  'shorten tokens': 2,
  'restore below': 2,
  'change app': 3,
} as const;

/** The number of operations that were added later, per hundred other operations. */
const LATER_ON_HUNDRED = 12;

/** The same for histories whose server keeps versions, in a separate stream. */
const PAST_WEIGHTS = {
  'merge branch': 3,
  'restore writes': 5,
  'look back': 5,
} as const;

const PAST_ON_HUNDRED = 8;

/** The same for histories in which an operator runs the server. */
const OPERATED_WEIGHTS = {
  'stop server': 4,
  'stop beside clients': 3,
  'hold database': 4,
  'close idle databases': 3,
  'reach quota': 2,
  'repeat request': 3,
  'show presence': 6,
  'shorten tokens': 2,
} as const;

const OPERATED_ON_HUNDRED = 10;

/**
 * In this share of the histories, users withdraw transactions in the last steps, every third of which is a withdrawal.
 * The steps are appended, so that everything before them stays as it was.
 */
const WITHDRAWING = 0.25;
const WITHDRAWING_STEPS = 18;

export type OperationKind =
  | 'withdraw waiting'
  | keyof typeof WEIGHTS
  | keyof typeof LATER_WEIGHTS
  | keyof typeof PAST_WEIGHTS
  | keyof typeof OPERATED_WEIGHTS;

/** One step. It makes its choices from its own seed, so that dropping another step changes as little as possible. */
export interface Operation {
  readonly number: number;
  readonly kind: OperationKind;
  /** The device, modulo the number of devices. */
  readonly device: number;
  readonly seed: number;
}

export interface Plan {
  readonly seed: number;
  readonly devices: number;
  readonly operations: readonly Operation[];
  /** Default: PLAIN. */
  readonly variant?: Variant;
}

/** The size of a history. */
export interface Size {
  readonly devices: readonly [atLeast: number, atMost: number];
  readonly operations: readonly [atLeast: number, atMost: number];
}

const KINDS = asOftenAsWeighed(WEIGHTS);
const LATER_KINDS = asOftenAsWeighed(LATER_WEIGHTS);
const PAST_KINDS = asOftenAsWeighed(PAST_WEIGHTS);
const OPERATED_KINDS = asOftenAsWeighed(OPERATED_WEIGHTS);

function asOftenAsWeighed<Kind extends OperationKind>(weights: Readonly<Record<Kind, number>>): Kind[] {
  return (Object.keys(weights) as Kind[]).flatMap((kind) => Array.from({ length: 10 * weights[kind] }, () => kind));
}

// A device and its unnoticed copy would both send a restored server the changesets that they share, which would then
// count twice (docs/decisions). No history has both.
const EITHER_OR: readonly (readonly OperationKind[])[] = [
  ['copy profile'],
  ['back up server', 'restore server', 'restore behind', 'restore below'],
];

export function planHistory(seed: number, size: Size): Plan {
  const random = new Random(seed);
  const between = ([atLeast, atMost]: readonly [number, number]): number =>
    atLeast + random.below(atMost - atLeast + 1);
  const devices = between(size.devices);
  const count = between(size.operations);
  const without = random.pick(EITHER_OR);
  const kinds = KINDS.filter((kind) => !without.includes(kind));
  const laterKinds = LATER_KINDS.filter((kind) => !without.includes(kind));
  const operation = (from: Random, number: number, kind: OperationKind): Operation => ({
    number,
    kind,
    device: from.below(devices),
    seed: from.below(2 ** 31),
  });
  const operations = Array.from({ length: count }, (_, number) => operation(random, number, random.pick(kinds)));
  const later = new Random(~seed);
  for (let number = count; number < count * (1 + LATER_ON_HUNDRED / 100); number++)
    operations.splice(later.below(operations.length), 0, operation(later, number, later.pick(laterKinds)));
  const variant = {
    ...chooseVariant(new Random(seed ^ 0x7a51), { restores: !without.includes('restore server') }),
    ...chooseOperated(new Random(seed ^ 0x57095)),
  };
  const insert = (from: Random, onHundred: number, among: readonly OperationKind[]): void => {
    const before = operations.length;
    for (let number = before; number < before * (1 + onHundred / 100); number++)
      operations.splice(from.below(operations.length), 0, operation(from, number, from.pick(among)));
  };
  // Past states are compared in the columns of one app version, so all devices must run the same one.
  if (keepsHistory(seed, variant) && variant.apps === undefined)
    insert(new Random(seed ^ 0x9a57), PAST_ON_HUNDRED, PAST_KINDS);
  if (variant.operated !== undefined) insert(new Random(seed ^ 0x0be7a7ed), OPERATED_ON_HUNDRED, OPERATED_KINDS);
  const withdrawing = new Random(seed ^ 0x3d7a1c55);
  if (withdrawing.chance(WITHDRAWING)) {
    const first = operations.length;
    for (let step = 0; step < WITHDRAWING_STEPS; step++) {
      const kind = step % 3 === 0 ? 'withdraw waiting' : withdrawing.pick(kinds);
      operations.push(operation(withdrawing, first + step, kind));
    }
  }
  return { seed, devices, operations, variant };
}
