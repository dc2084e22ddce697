import type { SqlStatement } from '#client/rpc/sql-statement.ts';
import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import { send, writeAt } from '../sending.ts';
import type { Tab } from '../tab.ts';
import type { World } from '../world.ts';
import { claimName, editEveryPage, releaseName } from '../writes.ts';

/**
 * A device's changeset, with an edit of pages, is masked because another device took the unique name that it needs. The
 * name becomes free before the server decides, so the changeset is admitted. Meanwhile the device edited the pages
 * again, without the masked edit.
 */
export async function editBesideMasked(world: World, device: Device, random: Random, number: number): Promise<void> {
  const { network, server, tally, time } = world;
  const other = random.pick(world.devices.filter((one) => one !== device));
  const name = `${device.name} at ${number}`;
  let part = 0;
  const writeBy = (who: Device, statements: (tab: Tab, mark: string) => SqlStatement[]): void => {
    const [tab] = who.usableTabs;
    const mark = `${who.name}-${number}.${part++}`;
    if (tab !== undefined) send(world, tab, mark, statements(tab, mark), false);
  };
  const rejected = (): number => device.leader?.opened?.database.rejected.count() ?? 0;
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
  const before = rejected();
  network.partition(device, false);
  for (let waits = 0; waits < 2_000 && rejected() === before; waits++) await time.advance(5);
  cutOff();
  if (rejected() > before) tally.add('edit beside a masked one');
  writeBy(other, (tab, mark) => releaseName(tab, random, mark, name));
  for (let more = 1 + random.below(3); more > 0; more--)
    writeBy(device, (tab, mark) => editEveryPage(tab, random, mark));
  await time.advance(random.below(2_000));
  network.partition(device, false);
  device.isSlow = random.chance(0.2);
}
