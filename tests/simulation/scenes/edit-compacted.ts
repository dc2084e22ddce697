import type { Device } from '../device.ts';
import type { PageSubject } from '../page-writes.ts';
import type { Random } from '../random.ts';
import { editPage, send, writeAt } from '../sending.ts';
import type { World } from '../world.ts';
import { editEveryPage } from '../writes.ts';

const EDITS: readonly PageSubject[] = [
  'page item',
  'page ends',
  'page text',
  'page patch',
  'page order',
  'page item note',
];

/**
 * An offline device edits pages that others edit and that are compacted meanwhile: its late edits belong to the
 * documents before compaction.
 */
export async function editCompacted(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { network, server, time } = world;
  const other = random.pick(world.devices.filter((one) => one !== device));
  let part = 0;
  const edit = (who: Device): void =>
    writeAt(world, who, random, `${who.name}-${number}.${part++}`, random.pick(EDITS));
  const editAll = (who: Device): void => {
    const [tab] = who.usableTabs;
    const mark = `${who.name}-${number}.${part++}`;
    if (tab !== undefined) send(world, tab, mark, editEveryPage(tab, random, mark), false);
  };
  server.start();
  for (const both of [device, other]) network.partition(both, false);
  writeAt(world, other, random, `${other.name}-${number}.page`, 'page');
  await time.advance(random.below(3_000));
  network.partition(device, true);
  for (let more = random.below(3); more >= 0; more--) edit(device);
  if (random.chance(0.5)) editAll(device);
  const [tab] = device.usableTabs;
  if (tab !== undefined && random.chance(0.5)) editPage(world, tab, random, `${device.name}-${number}.typed`);
  // A document that was compacted twice accepts no more late edits of its first version.
  for (let times = random.chance(0.2) ? 2 : 1; times > 0; times--) {
    server.compactDocuments();
    editAll(other);
    await time.advance(random.below(1_000));
  }
  for (let more = random.below(3); more > 0; more--) edit(other);
  await time.advance(random.below(1_000));
  network.partition(device, false);
}
