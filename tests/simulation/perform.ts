import type { RockpoolError } from '#shared/index.ts';
import type { Device } from './device.ts';
import { transactInSteps } from './interactive.ts';
import { marksIn } from './model.ts';
import type { Operation, OperationKind } from './operations.ts';
import { Random } from './random.ts';
import { changeApp } from './scenes/change-app.ts';
import { changeKeys } from './scenes/change-keys.ts';
import { countApart } from './scenes/count-apart.ts';
import { editBesideMasked } from './scenes/edit-beside-masked.ts';
import { editCompacted } from './scenes/edit-compacted.ts';
import { editDeletedTrip } from './scenes/edit-deleted-trip.ts';
import { forgottenDelete } from './scenes/forgotten-delete.ts';
import { latePush } from './scenes/late-push.ts';
import { lookBack } from './scenes/look-back.ts';
import { meet } from './scenes/meet.ts';
import { meetInRooms } from './scenes/meet-in-rooms.ts';
import { mergeBranch } from './scenes/merge-branch.ts';
import { openElsewhere } from './scenes/open-elsewhere.ts';
import { repeatRequest } from './scenes/repeat-request.ts';
import { restoreBehind } from './scenes/restore-behind.ts';
import { restoreBelow } from './scenes/restore-below.ts';
import { restoreLoss } from './scenes/restore-loss.ts';
import { restoreWrites } from './scenes/restore-writes.ts';
import { stopBesideClients } from './scenes/stop-beside-clients.ts';
import { tagApart } from './scenes/tag-apart.ts';
import { withdrawWaiting } from './scenes/withdraw-waiting.ts';
import { writeAtOnce } from './scenes/write-at-once.ts';
import { editPage, isHonest, write, writeAt } from './sending.ts';
import type { Tab } from './tab.ts';
import type { World } from './world.ts';

const YEAR_MS = 365 * 24 * 3600 * 1000;
const MOST_TABS = 3;

/** Performs one step and lets some time pass. */
export async function perform(world: World, operation: Operation): Promise<void> {
  const random = new Random(operation.seed);
  const copies = world.devices.filter(({ isCopy }) => isCopy);
  // Copies are made during a history, so no plan contains them.
  const device =
    copies.length > 0 && random.chance(0.4)
      ? random.pick(copies)
      : world.devices[operation.device % world.devices.length];
  if (device === undefined) return;
  const tab = device.usableTabs.length === 0 ? undefined : random.pick(device.usableTabs);
  await STEPS[operation.kind]({ world, device, tab, random, number: operation.number });
  await world.time.advance(random.pick([0, 0, 1, 5, random.below(40), random.below(400)]));
}

/** What an operation acts on. */
interface Step {
  readonly world: World;
  readonly device: Device;
  /** A tab of the device that can run queries, if there is one. */
  readonly tab: Tab | undefined;
  readonly random: Random;
  /** The index of the operation in its history. */
  readonly number: number;
}

type Scene = (world: World, device: Device, random: Random, number: number) => void | Promise<void>;

const scene =
  (play: Scene) =>
  ({ world, device, random, number }: Step): void | Promise<void> =>
    play(world, device, random, number);

const STEPS: Readonly<Record<OperationKind, (step: Step) => void | Promise<void>>> = {
  write: ({ world, device, tab, random, number }) => {
    if (tab !== undefined) write(world, tab, random, `${device.name}-${number}`);
  },
  burst: ({ world, device, tab, random, number }) => {
    for (let part = 0; part < 4; part++)
      if (tab?.isUsable === true) write(world, tab, random, `${device.name}-${number}.${part}`);
  },
  'edit page': ({ world, device, tab, random, number }) => {
    if (tab !== undefined) editPage(world, tab, random, `${device.name}-${number}`);
  },
  pause: ({ world, random }) => world.time.advance(random.below(5_000)),
  'long pause': ({ world, random }) => world.time.advance(random.below(90_000)),
  cut: ({ world, device }) => {
    for (const connection of world.network.connectionsOf(device))
      connection.cut({ clientHears: true, serverHears: true });
    world.tally.add('cut');
  },
  'half-open': ({ world, device, random }) => {
    for (const connection of world.network.connectionsOf(device))
      connection.cut({ clientHears: random.chance(0.5), serverHears: false });
    world.tally.add('half-open connection');
  },
  partition: ({ world, device }) => {
    if (!device.isPartitioned) world.tally.add('partition');
    world.network.partition(device, true);
  },
  'heal partition': ({ world, device }) => world.network.partition(device, false),
  slow: ({ device }) => {
    device.isSlow = !device.isSlow;
  },
  'kill tab': ({ world, tab }) => {
    if (tab === undefined) return;
    world.tally.add('crash of client');
    tab.kill();
  },
  'kill in storage': ({ device, tab, random }) => {
    if (tab !== undefined) device.doom(tab, random.below(30));
  },
  'kill at send': ({ device, random }) => {
    if (device.leader !== undefined) device.doomAtSend(device.leader, random.below(6));
  },
  'double frame': ({ world, device }) => {
    for (const connection of world.network.connectionsOf(device)) connection.mangle('double');
  },
  'swap frames': ({ world, device }) => {
    for (const connection of world.network.connectionsOf(device)) connection.mangle('swap');
  },
  'close tab': ({ device, tab }) => {
    if (tab !== undefined && device.tabs.length > 1) device.closeTab(tab);
  },
  'open tab': ({ device }) => {
    if (device.tabs.length < MOST_TABS) device.openTab();
  },
  suspend: ({ world, tab }) => {
    if (tab === undefined) return;
    tab.isSuspended = true;
    world.tally.add('suspended tab');
    tab.settle(() => tab.suspend());
  },
  resume: ({ device }) => {
    for (const sleeping of device.tabs) if (sleeping.isSuspended) wake(sleeping);
  },
  freeze: ({ device, random }) => {
    const reader = device.usableTabs.find(({ opened }) => opened?.role === 'reader');
    reader?.medium.freeze(random.chance(0.5));
  },
  'lose notices': ({ world, device, random }) => {
    world.tally.add('lost notice');
    device.browser.loseNotices(1 + random.below(2));
  },
  'clock jump': ({ world, device, random }) => {
    world.tally.add('clock jump');
    return device.clock.jumpTo(
      random.pick([YEAR_MS, -YEAR_MS, 0, 3_600_000, -3_600_000, random.below(2 * YEAR_MS) - YEAR_MS]),
    );
  },
  'clock rate': ({ world, device, random }) => {
    world.tally.add('clock frozen or backwards');
    device.clock.run(random.pick([1, 1, 0, -1]));
  },
  'kill server': ({ world }) => world.server.kill(),
  'kill server at statement': ({ world, random }) => {
    world.server.trap = { at: 'statement', left: random.below(60) };
  },
  'kill server at send': ({ world, random }) => {
    world.server.trap = { at: 'send', left: random.below(4) };
  },
  'start server': ({ world }) => world.server.start(),
  'stall server': ({ world, random }) => world.stallServer(random.below(3_000)),
  'late push': scene(latePush),
  meet: scene(meet),
  'at once': scene(writeAtOnce),
  'forgotten delete': scene(forgottenDelete),
  'retry rejected': ({ world, device, random, number }) =>
    decideRejected(world, device, random, 'retry rejected', number),
  'drop rejected': ({ world, device, random, number }) =>
    decideRejected(world, device, random, 'drop rejected', number),
  'copy profile': ({ world, device }) => {
    if (world.devices.some(({ isCopy }) => isCopy)) return;
    world.tally.add('copied file');
    return world.copyDevice(device);
  },
  'back up server': ({ world }) => world.server.backUp(),
  'restore server': ({ world }) => {
    if (world.server.restore()) world.onRestored();
  },
  'restore behind': scene(restoreBehind),
  'restore below': scene(restoreBelow),
  'edit beside masked': scene(editBesideMasked),
  'meet in rooms': scene(meetInRooms),
  'tag apart': scene(tagApart),
  'kill server in commit': ({ world, random }) => {
    world.server.trap = { at: random.chance(0.5) ? 'in commit' : 'after commit', left: random.below(6) };
  },
  'power cut of server': ({ world, random }) => {
    if (random.chance(0.3)) return world.server.kill({ kind: 'power loss' });
    world.server.trap = {
      at: random.pick(['statement', 'in commit', 'after commit', 'after commit', 'send']),
      left: random.below(6),
      losesPower: true,
    };
  },
  'power cut of client': async ({ world, device, random, number }) => {
    if (device.leader !== undefined && random.chance(0.6))
      return device.doomAtSend(device.leader, random.below(6), true);
    // A device flushes before it sends. Only unsent writes therefore show whether the durability that a write
    // promised was kept.
    if (device.isStrict || device.storage.kind === 'indexeddb') {
      world.network.partition(device, true);
      for (let part = 0; part < 3; part++) writeAt(world, device, random, `${device.name}-${number}.${part}`);
      await world.time.advance(random.below(30));
      world.network.partition(device, false);
    }
    device.losePower();
    device.openTab();
  },
  'fail server disk': ({ world, random }) => world.server.failSyncs(1 + random.below(2)),
  'compact documents': ({ world }) => world.server.compactDocuments(),
  'edit compacted': scene(editCompacted),
  'change keys': scene(changeKeys),
  'edit deleted trip': scene(editDeletedTrip),
  'count apart': scene(countApart),
  'restore a loss': ({ world, device, random, number }) =>
    restoreLoss(world, device, random, `${device.name}-${number}`),
  'open elsewhere': scene(openElsewhere),
  'open transaction': ({ world, device, tab, random, number }) => {
    if (tab !== undefined) transactInSteps(world, tab, random, `${device.name}-${number}`);
  },
  'lose answers': ({ device, random }) => device.browser.loseAnswers(1 + random.below(2)),
  'double asks': ({ device, random }) => device.browser.doubleAsks(1 + random.below(3)),
  'fill storage': ({ device, random }) => device.fillUp(random.below(20), random.below(20_000)),
  'fill server disk': ({ world, random }) => world.server.fillUp(random.below(40), random.below(15_000)),
  'change role': ({ world, device, random }) => changeRole(world, device, random),
  'shorten tokens': ({ device, random }) => {
    device.tokenLifetimeMs = random.pick([8_000, 30_000]);
  },
  'change app': scene(changeApp),
  'merge branch': scene(mergeBranch),
  'restore writes': scene(restoreWrites),
  'look back': ({ world, device, random }) => lookBack(world, device, random),
  'stop server': ({ world }) => world.server.stop(),
  'stop beside clients': scene(stopBesideClients),
  'hold database': ({ world }) => world.server.hold(),
  'close idle databases': ({ world }) => world.server.closeIdle(),
  'reach quota': ({ world, random }) => world.server.reachQuota(random.below(20_000)),
  'repeat request': scene(repeatRequest),
  'show presence': ({ tab, random, number }) => tab?.show(random.chance(0.2) ? null : number),
  'withdraw waiting': scene(withdrawWaiting),
  look: ({ device, random }) => device.lookInTheMiddle(1 + random.below(3)),
};

/** An owner takes rights from a device, and restores them some time later. */
function changeRole(world: World, device: Device, random: Random): void {
  const role = random.pick(['viewer', 'viewer', 'revoked'] as const);
  device.hasLackedRights = true;
  const by = random.pick(['owner', 'command line'] as const);
  world.server.setRole(device.name, role, by);
  world.tally.add(`role ${role}`);
  world.time.after(random.below(30_000), () => world.server.setRole(device.name, 'editor', by));
}

/** Why a changeset cannot be retried or dropped, or can no longer be: see client/src/worker/write/retry-rejected.ts. */
const STAYS_REJECTED: ReadonlySet<string> = new Set([
  'changeset-not-rejected',
  'changeset-undecided',
  'document-gone',
  'document-place-missing',
  'row-missing',
]);

/** A user looks at rejected changesets and retries or drops them. */
function decideRejected(
  world: World,
  device: Device,
  random: Random,
  kind: 'retry rejected' | 'drop rejected',
  number: number,
): void {
  // Rejected changesets are rare: takes this device, or the first one that has any.
  const rejectedOf = ({ leader }: Device): number[] =>
    [...(leader?.opened?.database.rejected.sequences() ?? [])].sort((a, b) => a - b);
  const tab = [device, ...world.devices].find((one) => rejectedOf(one).length > 0)?.leader;
  if (tab === undefined || tab.opened === null) return;
  const sequence = random.pick(rejectedOf(tab.device));
  if (kind === 'retry rejected') {
    const marks = marksIn(tab.opened.database, sequence);
    if (!world.model.triesAgain(tab.device.name, marks)) return;
    world.tally.add('withdrawn transaction tried again', world.model.withdrawals.end(marks));
  }
  const onFailure = (thrown: RockpoolError): void => {
    if (!tab.owner.isAlive) return;
    world.note(`${number} ${kind}: ${thrown.code}`);
    if (!isHonest(tab, thrown) && !STAYS_REJECTED.has(thrown.code))
      world.fault(`${kind} failed with ${thrown.message}`);
  };
  tab
    .run(() =>
      tab.membership.write([], { kind: kind === 'retry rejected' ? 'retry-rejected' : 'drop-rejected', sequence }),
    )
    .then(() => world.tally.add(kind), onFailure);
}

export function wake(tab: Tab): void {
  tab.isSuspended = false;
  tab.settle(() => tab.resume());
}
