import { expect } from 'vitest';
import { insert } from './changeset.ts';
import type { PostgresAccess } from './postgres-access.ts';
import { pushUntil } from './push-until.ts';
import { serverFlags, ServerProcess } from './server-process.ts';
import { type TestConnection, TestSite } from './test-client.ts';
import { DATABASE } from './test-server.ts';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';

/** One of several instances, in a separate process with a separate folder. */
class Instance {
  private readonly folder = temporaryFolder();
  private readonly url: string;
  process: ServerProcess | null = null;

  constructor(url: string) {
    this.url = url;
  }

  async start(): Promise<this> {
    this.process = await ServerProcess.start(this.folder, [...serverFlags(this.folder), '--postgres', this.url]);
    return this;
  }

  async kill(): Promise<void> {
    await this.process?.signal('SIGKILL');
  }

  async connect(site: TestSite): Promise<TestConnection> {
    const process = this.process as ServerProcess;
    const connection = await process.connect(site);
    const acknowledged = site.lastAckedSequence;
    const { welcome } = await connection.open(await process.token(), DATABASE);
    expect(welcome.lastAckedSequence).toBeGreaterThanOrEqual(acknowledged);
    return connection;
  }

  async stop(): Promise<void> {
    expect(await this.process?.signal('SIGTERM')).toMatchObject({ code: 0 });
  }
}

export interface InstanceKillPlan {
  /** Number of changesets per writer. */
  readonly changesets: number;
  readonly kills: number;
}

/**
 * Two clients push into one database through two instances. Repeatedly kills one instance, after which its client
 * continues through the other. A third client only listens, at any running instance. Checks that in the end each
 * changeset is stored exactly once, and that the listener has received all of them.
 */
export async function checkKilledInstances(
  postgres: PostgresAccess,
  { changesets, kills }: InstanceKillPlan,
): Promise<void> {
  const { url, name } = await postgres.createDatabase();
  const instances = await Promise.all([new Instance(url).start(), new Instance(url).start()]);
  const writers = ['x', 'y'].map((prefix) => {
    const site = new TestSite();
    for (let i = 1; i <= changesets; i++) site.write([insert('entries', `${prefix}${i}`, { amount: BigInt(i) })]);
    return site;
  }) as [TestSite, TestSite];
  const listener = new TestSite();
  for (let kill = 1; kill <= kills; kill++) {
    const victim = instances[kill % 2] as Instance;
    const other = instances[1 - (kill % 2)] as Instance;
    const [doomed, safe] = [await victim.connect(writers[0]), await other.connect(writers[1])];
    const listening = await other.connect(listener);
    const enough = Math.floor((changesets * kill) / (kills + 1));
    await Promise.all([pushUntil(doomed, enough), pushUntil(safe, enough)]);
    const before = writers[0].lastAckedSequence;
    await victim.kill();
    await doomed.closes();
    // The killed instance must not block the other, where its client continues and the listener receives its changes.
    const again = await other.connect(writers[0]);
    again.push(writers[0].lastAckedSequence + 1, writers[0].lastAckedSequence + 1);
    await again.decided(before + 1);
    while (listener.cursor < writers[0].cursor) await listening.delivery();
    await Promise.all([again.close(), safe.close(), listening.close()]);
    await victim.start();
  }
  await Promise.all(
    writers.map(async (site, i) => pushUntil(await (instances[i] as Instance).connect(site), changesets)),
  );
  const last = await (instances[0] as Instance).connect(listener);
  while (listener.cursor < 2 * changesets) await last.delivery();
  await last.close();
  const count = 2 * changesets;
  const sum = changesets * (changesets + 1);
  expect(await postgres.query(name, 'SELECT count(*)::int, sum(amount)::int FROM rockpool.entries')).toEqual([
    [count, sum],
  ]);
  expect(
    await postgres.query(
      name,
      'SELECT count(*)::int, count(DISTINCT (site_number, sequence))::int, min(watermark)::int, max(watermark)::int FROM rockpool.rockpool_log',
    ),
  ).toEqual([[count, count, 1, count]]);
  for (const instance of instances) await instance.stop();
}
