import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeSchema } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { DEPLOY_FOLDER, readDockerfile } from '../../testing/dockerfile.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { TEST_SECRET } from '../../testing/test-server.ts';
import { readServeConfig, SERVE_SETTINGS } from './config.ts';
import { environmentName } from './settings.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

const fileNames = readdirSync(DEPLOY_FOLDER);
const read = (name: string): string => readFileSync(join(DEPLOY_FOLDER, name), 'utf8');
const { environment } = readDockerfile();

describe('the deployment files', () => {
  it.each(fileNames)('%s names only existing settings', (name) => {
    const known = Object.keys(SERVE_SETTINGS).map(environmentName);
    for (const [found] of read(name).matchAll(/ROCKPOOL_[A-Z_]+/g)) expect(known).toContain(found);
  });

  it('give the image every setting that serving needs', () => {
    const folder = temporaryFolder();
    const at = { ROCKPOOL_SCHEMA: join(folder, 'schema.json'), ROCKPOOL_SECRET_FILE: join(folder, 'secret') };
    writeFileSync(at.ROCKPOOL_SCHEMA, encodeSchema(TEST_SCHEMA));
    writeFileSync(at.ROCKPOOL_SECRET_FILE, TEST_SECRET);
    expect(readServeConfig({ flags: [], environment: { ...environment, ...at } })).toMatchObject({
      dataDir: '/data',
      host: '0.0.0.0',
      port: 4400,
    });
  });

  it.each(fileNames.filter((name) => name.startsWith('compose')))(
    '%s puts volume, schema and secret where the image looks for them, and gives it room to sort',
    (name) => {
      const compose = read(name);
      expect(compose).toContain(`:${environment['ROCKPOOL_DATA']}`);
      expect(compose).toContain(`./schema.json:${environment['ROCKPOOL_SCHEMA']}:ro`);
      expect(environment['ROCKPOOL_SECRET_FILE']).toBe('/run/secrets/rockpool');
      expect(compose).toMatch(/secrets: \[rockpool\][\s\S]*\nsecrets:\n {2}rockpool:\n/);
      expect(compose).toMatch(new RegExp(`ports: \\["127\\.0\\.0\\.1:\\d+:${environment['ROCKPOOL_PORT']}"\\]`));
      // Without it SQLite has no folder for the files of a large sort.
      expect(compose.match(/read_only: true/g)?.length).toBe(compose.match(/tmpfs: \[\/tmp\]/g)?.length);
    },
  );

  it('compose.postgres.yaml runs two instances with a volume each', () => {
    const compose = read('compose.postgres.yaml');
    const names = [...compose.matchAll(/^ {2}(rockpool-\d):/gm)].map(([, name]) => name);
    expect(names).toEqual(['rockpool-1', 'rockpool-2']);
    expect(new Set(compose.match(/working-copies-\d:\/data/g)).size).toBe(2);
    expect(compose).toContain('env_file: postgres.env');
  });

  const tools = ['nginx', 'openssl'].map((tool) => spawnSync(tool, [tool === 'nginx' ? '-v' : 'version']));
  it.skipIf(tools.some(({ error }) => error !== undefined))('nginx.conf passes nginx -t', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'nginx.conf'), read('nginx.conf'));
    const [key, certificate] = [join(folder, 'certificate-key.pem'), join(folder, 'certificate.pem')];
    const subject = ['-subj', '/CN=sync.example.org'];
    spawnSync('openssl', [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      key,
      '-out',
      certificate,
      ...subject,
    ]);
    const pid = join(folder, 'nginx.pid');
    const { status, stderr } = spawnSync(
      'nginx',
      ['-t', '-q', '-e', 'stderr', '-c', join(folder, 'nginx.conf'), '-g', `pid ${pid};`],
      { encoding: 'utf8' },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  const systemd = spawnSync('systemd-analyze', ['--version']);
  it.skipIf(systemd.error !== undefined)('rockpool-server.service passes systemd-analyze', () => {
    const { status, stderr } = spawnSync(
      'systemd-analyze',
      ['verify', join(DEPLOY_FOLDER, 'rockpool-server.service')],
      { encoding: 'utf8' },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
