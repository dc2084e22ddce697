import type { RockpoolError } from '#shared/index.ts';
import type { Device } from './device.ts';
import { transactInSteps } from './interactive.ts';
import { marksIn } from './model.ts';
import type { Operation } from './operations.ts';
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
import { restoreBehind } from './scenes/restore-behind.ts';
import { restoreBelow } from './scenes/restore-below.ts';
import { restoreLoss } from './scenes/restore-loss.ts';
import { restoreWrites } from './scenes/restore-writes.ts';
import { tagApart } from './scenes/tag-apart.ts';
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
  await step(world, device, operation, random);
  await world.time.advance(random.pick([0, 0, 1, 5, random.below(40), random.below(400)]));
}

async function step(world: World, device: Device, { kind, number }: Operation, random: Random): Promise<void> {
  const { tally, network, server, time } = world;
  const tab = device.usableTabs.length === 0 ? undefined : random.pick(device.usableTabs);
  switch (kind) {
    case 'write':
      if (tab !== undefined) write(world, tab, random, `${device.name}-${number}`);
      return;
    case 'burst':
      for (let part = 0; part < 4; part++)
        if (tab?.isUsable === true) write(world, tab, random, `${device.name}-${number}.${part}`);
      return;
    case 'edit page':
      if (tab !== undefined) editPage(world, tab, random, `${device.name}-${number}`);
      return;
    case 'pause':
      return time.advance(random.below(5_000));
    case 'long pause':
      return time.advance(random.below(90_000));
    case 'cut':
      for (const connection of network.connectionsOf(device)) connection.cut({ clientHears: true, serverHears: true });
      return tally.add('cut');
    case 'half-open':
      for (const connection of network.connectionsOf(device))
        connection.cut({ clientHears: random.chance(0.5), serverHears: false });
      return tally.add('half-open connection');
    case 'partition':
      if (!device.isPartitioned) tally.add('partition');
      return network.partition(device, true);
    case 'heal partition':
      return network.partition(device, false);
    case 'slow':
      device.isSlow = !device.isSlow;
      return;
    case 'kill tab':
      if (tab === undefined) return;
      tally.add('crash of client');
      return tab.kill();
    case 'kill in storage':
      if (tab !== undefined) device.doom(tab, random.below(30));
      return;
    case 'kill at send':
      if (device.leader !== undefined) device.doomAtSend(device.leader, random.below(6));
      return;
    case 'double frame':
    case 'swap frames':
      for (const connection of network.connectionsOf(device))
        connection.mangle(kind === 'double frame' ? 'double' : 'swap');
      return;
    case 'close tab':
      if (tab !== undefined && device.tabs.length > 1) device.closeTab(tab);
      return;
    case 'open tab':
      if (device.tabs.length < MOST_TABS) device.openTab();
      return;
    case 'suspend':
      if (tab === undefined) return;
      tab.isSuspended = true;
      tally.add('suspended tab');
      tab.settle(() => tab.membership.suspend());
      return;
    case 'resume':
      for (const sleeping of device.tabs) if (sleeping.isSuspended) wake(sleeping);
      return;
    case 'freeze': {
      const reader = device.usableTabs.find(({ opened }) => opened?.role === 'reader');
      reader?.medium.freeze(random.chance(0.5));
      return;
    }
    case 'lose notices':
      tally.add('lost notice');
      return device.browser.loseNotices(1 + random.below(2));
    case 'clock jump':
      tally.add('clock jump');
      return device.clock.jumpTo(
        random.pick([YEAR_MS, -YEAR_MS, 0, 3_600_000, -3_600_000, random.below(2 * YEAR_MS) - YEAR_MS]),
      );
    case 'clock rate':
      tally.add('clock frozen or backwards');
      return device.clock.run(random.pick([1, 1, 0, -1]));
    case 'kill server':
      return server.kill();
    case 'kill server at statement':
      server.trap = { at: 'statement', left: random.below(60) };
      return;
    case 'kill server at send':
      server.trap = { at: 'send', left: random.below(4) };
      return;
    case 'start server':
      return server.start();
    case 'stall server':
      return world.stallServer(random.below(3_000));
    case 'late push':
      return latePush(world, device, random, number);
    case 'meet':
      return meet(world, device, random, number);
    case 'at once':
      return writeAtOnce(world, device, random, number);
    case 'forgotten delete':
      return forgottenDelete(world, device, random, number);
    case 'retry rejected':
    case 'drop rejected':
      return decideRejected(world, device, random, kind, number);
    case 'copy profile':
      if (world.devices.some(({ isCopy }) => isCopy)) return;
      tally.add('copied file');
      return world.copyDevice(device);
    case 'back up server':
      return server.backUp();
    case 'restore server':
      if (server.restore()) world.onRestored();
      return;
    case 'restore behind':
      return restoreBehind(world, device, random, number);
    case 'restore below':
      return restoreBelow(world, device, random, number);
    case 'edit beside masked':
      return editBesideMasked(world, device, random, number);
    case 'meet in rooms':
      return meetInRooms(world, device, random, number);
    case 'tag apart':
      return tagApart(world, device, random, number);
    case 'kill server in commit':
      server.trap = { at: random.chance(0.5) ? 'in commit' : 'after commit', left: random.below(6) };
      return;
    case 'power cut of server':
      if (random.chance(0.3)) return server.kill({ kind: 'power loss' });
      server.trap = {
        at: random.pick(['statement', 'in commit', 'after commit', 'after commit', 'send']),
        left: random.below(6),
        losesPower: true,
      };
      return;
    case 'power cut of client':
      if (device.leader !== undefined && random.chance(0.6))
        return device.doomAtSend(device.leader, random.below(6), true);
      // A device flushes before it sends. Only unsent writes therefore show whether the durability that a write
      // promised was kept.
      if (device.isStrict || device.storage.kind === 'indexeddb') {
        network.partition(device, true);
        for (let part = 0; part < 3; part++) writeAt(world, device, random, `${device.name}-${number}.${part}`);
        await time.advance(random.below(30));
        network.partition(device, false);
      }
      device.losePower();
      device.openTab();
      return;
    case 'fail server disk':
      return server.failSyncs(1 + random.below(2));
    case 'compact documents':
      return server.compactDocuments();
    case 'edit compacted':
      return editCompacted(world, device, random, number);
    case 'change keys':
      return changeKeys(world, device, random, number);
    case 'edit deleted trip':
      return editDeletedTrip(world, device, random, number);
    case 'count apart':
      return countApart(world, device, random, number);
    case 'restore a loss':
      return restoreLoss(world, device, random, `${device.name}-${number}`);
    case 'open elsewhere':
      return openElsewhere(world, device, random, number);
    case 'open transaction':
      if (tab !== undefined) transactInSteps(world, tab, random, `${device.name}-${number}`);
      return;
    case 'lose answers':
      return device.browser.loseAnswers(1 + random.below(2));
    case 'double asks':
      return device.browser.doubleAsks(1 + random.below(3));
    case 'fill storage':
      return device.fillUp(random.below(20), random.below(20_000));
    case 'fill server disk':
      return server.fillUp(random.below(40), random.below(15_000));
    case 'change role':
      return changeRole(world, device, random);
    case 'shorten tokens':
      device.tokenLifetimeMs = random.pick([8_000, 30_000]);
      return;
    case 'change app':
      return changeApp(world, device, random, number);
    case 'merge branch':
      return mergeBranch(world, device, random, number);
    case 'restore writes':
      return restoreWrites(world, device, random, number);
    case 'look back':
      return lookBack(world, device, random);
    case 'look':
      return device.lookInTheMiddle(1 + random.below(3));
  }
}

/** An owner takes rights from a device, and restores them some time later. */
function changeRole(world: World, device: Device, random: Random): void {
  const role = random.pick(['viewer', 'viewer', 'revoked'] as const);
  device.hasLackedRights = true;
  const by = random.pick(['owner', 'command line'] as const);
  world.server.setRole(device.name, role, by);
  world.tally.add(`role ${role}`);
  world.time.after(random.below(30_000), () => world.server.setRole(device.name, 'editor', by));
}

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
  if (kind === 'retry rejected' && !world.model.triesAgain(tab.device.name, marksIn(tab.opened.database, sequence)))
    return;
  const onFailure = (thrown: RockpoolError): void => {
    if (!tab.owner.isAlive) return;
    world.note(`${number} ${kind}: ${thrown.code}`);
    if (
      !isHonest(tab, thrown) &&
      thrown.code !== 'changeset-not-rejected' &&
      thrown.code !== 'row-missing' &&
      thrown.code !== 'changeset-undecided'
    )
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
  tab.settle(() => tab.membership.resume());
}
