import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { insert } from '../../testing/changeset.ts';
import { databaseRows } from '../../testing/database-rows.ts';
import { copiedBy } from '../../testing/killed-backup.ts';
import { motoProblem, startMoto, type MotoServer } from '../../testing/moto-server.ts';
import { runCommand, serverFlags, ServerProcess } from '../../testing/server-process.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { SqliteMembers } from '../auth/sqlite-members.ts';
import { databasePath, databasesDirectory, membersPath } from '../store/data-directory.ts';
import { copyKey, deletedKey, type Level } from './object-names.ts';
import { S3Destination } from './s3-destination.ts';
import { ServerCopies } from './server-copies.ts';

const problem = motoProblem();
const HOUR_MS = 3_600_000;

describe.skipIf(problem !== null)(`a server on S3${problem === null ? '' : ` (skipped: ${problem})`}`, () => {
  let moto: MotoServer;
  let folder: string;
  let bucket = '';
  let number = 0;
  beforeAll(async () => {
    moto = await startMoto();
  });
  afterAll(() => moto.stop());
  beforeEach(async () => {
    folder = temporaryFolder();
    bucket = `server-${++number}`;
    await fetch(`${moto.url}/${bucket}`, { method: 'PUT' });
  });

  it('copies what it commits, and what is restored after SIGKILL has every commit, as of any moment', async () => {
    const environment = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'a secret' };
    const at = ['--backup-endpoint', moto.url, '--backup-path-style'];
    const place = `s3://${bucket}/of/a server`;
    const server = await ServerProcess.start(
      folder,
      [...serverFlags(folder), '--threads', '2', '--backup-to', place, '--backup-interval', '1s', ...at],
      environment,
    );
    const restore = async (name: string, ...flags: string[]): Promise<object> => {
      const target = join(folder, name);
      const done = await runCommand(['restore', '--from', place, '--data', target, ...at, ...flags], environment);
      expect(done).toMatchObject({ code: 0 });
      return databaseRows(databasePath(target, DATABASE));
    };
    const rows = (): object => databaseRows(databasePath(join(folder, 'data'), DATABASE));
    const connection = await server.connect();
    await connection.open(await server.token(), DATABASE);
    await connection.commit([insert('accounts', 'early', { name: 'early' })]);
    await copiedBy(server);
    const early = { atMs: Date.now(), rows: rows() };
    await connection.commit([insert('accounts', 'late', { name: 'late' })]);
    await copiedBy(server);
    const late = rows();
    expect(late).not.toEqual(early.rows);
    await server.signal('SIGKILL');
    expect(await restore('newest')).toEqual(late);
    expect(await restore('earlier', '--at', new Date(early.atMs).toISOString())).toEqual(early.rows);
  });

  it('the sweep deletes all objects that no moment of the retention needs, even more than a thousand', async () => {
    const destination = new S3Destination({
      ...{ bucket, prefix: 'p', endpoint: moto.url, region: 'eu-west-1', pathStyle: true },
      ...{ accessKeyId: 'key', secretAccessKey: 'a secret' },
    });
    const key = (source: string, startHour: number, level: Level, copy: number, hour: number): string =>
      copyKey({
        ...{ source, level, first: copy, last: copy, part: 0, parts: 1, timeMs: hour * HOUR_MS },
        generation: `${String(startHour * HOUR_MS).padStart(13, '0')}-00000000`,
      });
    const expired = [
      key('db-a', 1, 'base', 0, 1),
      ...Array.from({ length: 1_010 }, (_, i) => key('db-a', 1, 0, i + 1, 2)),
      key('db-gone', 1, 'base', 0, 1),
      deletedKey('db-gone', 2 * HOUR_MS),
    ];
    const kept = [
      key('db-a', 3, 'base', 0, 3),
      key('db-a', 3, 0, 1, 4),
      key('db-a', 9, 'base', 0, 9),
      key('db-still', 1, 'base', 0, 1),
    ];
    for (const one of [...expired, ...kept]) await destination.put(one, new Uint8Array(1));
    await destination.put('retention.json', Buffer.from(JSON.stringify({ nowMs: 9 * HOUR_MS })));
    databasesDirectory(folder);
    new SqliteMembers(membersPath(folder)).close();
    mkdirSync(join(folder, 'incoming'), { recursive: true });
    const lines: { readonly event: string; readonly fields: object }[] = [];
    let nowMs = 10 * HOUR_MS;
    const copies = new ServerCopies({
      ...{ dataDir: folder, destination, run: 'run', keepMs: 5 * HOUR_MS, intervalMs: HOUR_MS },
      log: (event, fields) => void lines.push({ event, fields }),
      now: () => nowMs,
    });
    const stored = async (): Promise<string[]> => {
      const keys: string[] = [];
      for await (const object of destination.list('databases/db-')) keys.push(object.key);
      return keys;
    };
    await copies.look();
    expect(await stored()).toHaveLength(expired.length + kept.length);
    nowMs += HOUR_MS;
    await copies.look();
    expect(await stored()).toEqual(kept.sort());
    expect(lines.filter(({ event }) => event !== 'backup-generation')).toEqual([
      { event: 'backup-expired', fields: { objects: expired.length } },
    ]);
    await copies.close();
  });
});
