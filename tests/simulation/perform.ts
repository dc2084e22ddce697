import type { RockpoolError } from '../../packages/shared/src/index.ts';
import type { SqlStatement } from '../../packages/client/src/rpc/sql-statement.ts';
import type { Device } from './device.ts';
import type { Operation } from './operations.ts';
import { pageChange } from './page-writes.ts';
import { Random } from './random.ts';
import { TOMBSTONES_MS } from './server-host.ts';
import type { Tab } from './tab.ts';
import type { World } from './world.ts';
import { claimName, dropEveryPage, editEveryPage, pagesSeen, randomTransaction, releaseName, type Subject } from './writes.ts';

const YEAR_MS = 365 * 24 * 3600 * 1000;
const MOST_TABS = 3;

/** What devices that write at the same time are likely to meet in. */
const COMMON_SUBJECTS: readonly Subject[] = ['pair', 'pair', 'note', 'low', 'title', 'entry note', 'rename', 'page ends', 'page item', 'page text'];

/** Failures of a write that its author is told of and can do something about. Anything else is a fault. */
const HONEST_FAILURES = /^(constraint-|leader-unreachable|client-closed|storage-lost|transaction-lost)/;

/** Carries out one step, and lets some time pass. */
export async function perform(world: World, operation: Operation): Promise<void> {
  const random = new Random(operation.seed);
  const copies = world.devices.filter(({ isCopy }) => isCopy);
  // Copies come in the course of things, so no plan knows of them.
  const device = copies.length > 0 && random.chance(0.4) ? random.pick(copies) : world.devices[operation.device % world.devices.length];
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
      for (let part = 0; part < 4; part++) if (tab?.isUsable === true) write(world, tab, random, `${device.name}-${number}.${part}`);
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
      for (const connection of network.connectionsOf(device)) connection.cut({ clientHears: random.chance(0.5), serverHears: false });
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
      for (const connection of network.connectionsOf(device)) connection.mangle(kind === 'double frame' ? 'double' : 'swap');
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
      return device.clock.jumpTo(random.pick([YEAR_MS, -YEAR_MS, 0, 3_600_000, -3_600_000, random.below(2 * YEAR_MS) - YEAR_MS]));
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
      return stall(world, random.below(3_000));
    case 'late push':
      return latePush(world, device, random, number);
    case 'meet':
      return meet(world, device, random, number);
    case 'at once':
      return writeAtOnce(world, device, random, number);
    case 'forgotten delete':
      return forgottenDelete(world, device, random, number);
    case 'retry parked':
    case 'drop parked':
      return decideParked(world, device, random, kind, number);
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
    case 'edit beside withheld':
      return editBesideWithheld(world, device, random, number);
    case 'look':
      return device.lookInTheMiddle(1 + random.below(3));
  }
}

/** Somebody looks at what was refused, and sends it again or gives it up. */
function decideParked(world: World, device: Device, random: Random, kind: 'retry parked' | 'drop parked', number: number): void {
  // It happens to few: this one, or the first who has something parked.
  const parkedOf = ({ leader }: Device): number[] => [...(leader?.opened?.database.parked.sequences() ?? [])].sort((a, b) => a - b);
  const tab = [device, ...world.devices].find((one) => parkedOf(one).length > 0)?.leader;
  if (tab === undefined) return;
  const sequence = random.pick(parkedOf(tab.device));
  world.tally.add(kind);
  tab.run(() => tab.membership.write([], { kind: kind === 'retry parked' ? 'retry-parked' : 'drop-parked', sequence })).catch((thrown: RockpoolError) => {
    if (!tab.owner.isAlive) return;
    world.note(`${number} ${kind}: ${thrown.code}`);
    if (!HONEST_FAILURES.test(thrown.code) && thrown.code !== 'changeset-not-parked' && thrown.code !== 'changeset-undecided') world.fault(`${kind} failed with ${thrown.message}`);
  });
}

function stall({ network, tally, time }: World, durationMs: number): void {
  network.stall(true);
  tally.add('server stalled');
  time.after(durationMs, () => network.stall(false));
}

/** What was sent on a connection that has ended arrives together with the hello of the next one. */
async function latePush(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { leader } = device;
  if (leader === undefined) return;
  write(world, leader, random, `${device.name}-${number}`);
  await world.time.advance(0);
  const lateMs = 200 + random.below(400);
  for (const connection of world.network.connectionsOf(device)) connection.abandon(lateMs);
  await world.time.advance(random.below(lateMs));
  stall(world, 200 + random.below(800));
  await world.time.advance(random.below(1_000));
}

/**
 * Two devices write the same while one is away, and that one writes it again while the news and its own outcome are on their way. Of pages, it may also drop what it has
 * edited: its own edit is then the last in them, and the other's is there unseen.
 */
async function meet(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { network, time } = world;
  const other = random.pick(world.devices.filter((one) => one !== device));
  const subject = random.pick(COMMON_SUBJECTS);
  let part = 0;
  const writeBoth = (who: Device): void => writeAt(world, who, random, `${who.name}-${number}.${part++}`, subject);
  for (const connection of network.connectionsOf(device)) connection.cut({ clientHears: true, serverHears: true });
  network.partition(device, true);
  device.isSlow = true;
  if (random.chance(0.7)) writeBoth(device);
  await time.advance(random.below(50));
  writeBoth(other);
  if (part < 2) writeBoth(device);
  const [tab] = device.usableTabs;
  if (tab !== undefined && subject.startsWith('page') && random.chance(0.3)) send(world, tab, `${device.name}-${number}.drop`, dropEveryPage(tab, random, `${device.name}-${number}.drop`), false);
  await time.advance(random.below(1_000));
  network.partition(device, false);
  const cursor = (): number | undefined => device.leader?.opened?.database.meta.cursor;
  const before = cursor();
  for (let waits = 0; waits < 100 && cursor() === before; waits++) await time.advance(200);
  for (let again = random.below(3); again >= 0; again--) {
    await time.advance(random.below(300));
    writeBoth(device);
  }
  device.isSlow = random.chance(0.5);
}

/** Two devices write the same in the same millisecond: where both are heard of equally soon, their stamps are the same. */
function writeAtOnce(world: World, device: Device, random: Random, number: number): void {
  const subject = random.pick(COMMON_SUBJECTS);
  const other = random.pick(world.devices.filter((one) => one !== device));
  for (const who of [device, other]) writeAt(world, who, random, `${who.name}-${number}`, subject);
}

/** Somebody is away while others delete a row; it is forgotten when they come back. */
async function forgottenDelete(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { network, server, time } = world;
  const other = random.pick(world.devices.filter((one) => one !== device));
  const [made, dropped] = random.pick([['plan', 'drop plan'], ['entry', 'drop entry'], ['label', 'drop label']] as const);
  let part = 0;
  const writeOther = (subject?: Subject): void => writeAt(world, other, random, `${other.name}-${number}.${part++}`, subject);
  server.start();
  for (const both of [device, other]) network.partition(both, false);
  writeOther(made);
  await time.advance(random.below(4_000));
  network.partition(device, true);
  writeOther(dropped);
  await time.advance(TOMBSTONES_MS + random.below(2_000));
  writeOther();
  await time.advance(random.below(1_000));
  network.partition(device, false);
}

/**
 * What a device has written, an edit of pages with it, is withheld there, because somebody else has taken the name that it needs. The name is free again before the server
 * decides, so it is admitted. Meanwhile the device has edited the pages again, as they stood without it.
 */
async function editBesideWithheld(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { network, server, tally, time } = world;
  const other = random.pick(world.devices.filter((one) => one !== device));
  const name = `${device.name} at ${number}`;
  let part = 0;
  const writeBy = (who: Device, statements: (tab: Tab, mark: string) => SqlStatement[]): void => {
    const [tab] = who.usableTabs;
    const mark = `${who.name}-${number}.${part++}`;
    if (tab !== undefined) send(world, tab, mark, statements(tab, mark), false);
  };
  const parked = (): number => device.leader?.opened?.database.parked.count() ?? 0;
  const cutOff = (): void => {
    for (const connection of network.connectionsOf(device)) connection.cut({ clientHears: true, serverHears: true });
    network.partition(device, true);
  };
  server.start();
  for (const both of [device, other]) network.partition(both, false);
  writeAt(world, device, random, `${device.name}-${number}.page`, 'page');
  await time.advance(random.below(3_000));
  cutOff();
  writeBy(other, (tab, mark) => claimName(tab, random, mark, name, false));
  await time.advance(500 + random.below(500));
  writeBy(device, (tab, mark) => claimName(tab, random, mark, name, true));
  device.isSlow = true;
  await time.advance(5);
  const before = parked();
  network.partition(device, false);
  for (let waits = 0; waits < 2_000 && parked() === before; waits++) await time.advance(5);
  cutOff();
  if (parked() > before) tally.add('edit beside a withheld one');
  writeBy(other, (tab, mark) => releaseName(tab, random, mark, name));
  for (let more = 1 + random.below(3); more > 0; more--) writeBy(device, (tab, mark) => editEveryPage(tab, random, mark));
  await time.advance(random.below(2_000));
  network.partition(device, false);
  device.isSlow = random.chance(0.2);
}

/** The server is put back, and somebody who knows nothing of what it has lost writes on; those who know come later. */
async function restoreBehind(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { devices, network, server, time } = world;
  const subject = random.pick(COMMON_SUBJECTS);
  const others = devices.filter((one) => one !== device);
  let part = 0;
  const writeBy = (who: Device): void => writeAt(world, who, random, `${who.name}-${number}.${part++}`, subject);
  await time.advance(random.below(2_000));
  server.backUp();
  network.partition(device, true);
  for (let more = 1 + random.below(3); more > 0; more--) {
    writeBy(random.pick(others));
    await time.advance(random.below(1_000));
  }
  for (const other of others) network.partition(other, true);
  if (random.chance(0.5)) writeBy(random.pick(others));
  if (server.restore()) world.onRestored();
  network.partition(device, false);
  await time.advance(2_000);
  for (let more = 1 + random.below(5); more > 0; more--) {
    writeBy(device);
    await time.advance(random.below(500));
  }
  for (const other of others) network.partition(other, false);
}

export function wake(tab: Tab): void {
  tab.isSuspended = false;
  tab.settle(() => tab.membership.resume());
}

/** In any of the device's tabs, if it has one that can write now. */
function writeAt(world: World, device: Device, random: Random, mark: string, subject?: Subject): void {
  const [tab] = device.usableTabs;
  if (tab !== undefined) write(world, tab, random, mark, subject);
}

function write(world: World, tab: Tab, random: Random, mark: string, subject?: Subject): void {
  const statements = randomTransaction(tab, random, mark, subject);
  send(world, tab, mark, statements, random.chance(0.15));
}

function send(world: World, tab: Tab, mark: string, statements: readonly SqlStatement[], isAtomic: boolean): void {
  world.tally.add(isAtomic ? 'atomic write' : 'write');
  if (isAtomic) world.model.atomic.add(mark);
  tab.write(statements, isAtomic).then(
    () => {
      // The promise of a write is kept from here on: its storage had noted it before.
      if (tab.owner.isAlive && !world.model.commits.has(mark)) world.fault(`${mark} was acknowledged and is not in the changelog`);
      world.note(`${mark} written`);
    },
    (thrown: RockpoolError) => {
      if (!tab.owner.isAlive) return;
      world.note(`${mark} failed: ${thrown.code}`);
      world.tally.add(`write failed: ${thrown.code}`);
      if (!HONEST_FAILURES.test(thrown.code)) world.fault(`${mark} failed with ${thrown.message}`);
      else if (world.model.commits.has(mark) && thrown.code !== 'client-closed') world.fault(`${mark} failed with ${thrown.code} and took effect all the same`);
    },
  );
}

/** Somebody types into an editor that is bound to a page. Another write may have replaced the page meanwhile. */
function editPage(world: World, tab: Tab, random: Random, token: string): void {
  const change = pageChange(pagesSeen(tab), random, token);
  if (change === null) return;
  world.tally.add('edit of a document by its Y.Doc');
  tab.run(() => tab.membership.write([], change)).catch((thrown: RockpoolError) => {
    if (!tab.owner.isAlive) return;
    world.note(`${token} failed: ${thrown.code}`);
    if (!HONEST_FAILURES.test(thrown.code) && thrown.code !== 'document-gone') world.fault(`${token} failed with ${thrown.message}`);
  });
}
