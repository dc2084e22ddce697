import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { encodeSchema } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { DEPLOY_FOLDER, readDockerfile } from '../../testing/dockerfile.ts';
import { isMissing, runTool } from '../../testing/installed-tool.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { TEST_SECRET } from '../../testing/test-server.ts';
import { readServeConfig, SERVE_SETTINGS } from './config.ts';
import { environmentName } from './settings.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

const fileNames = readdirSync(DEPLOY_FOLDER, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(DEPLOY_FOLDER, join(entry.parentPath, entry.name)));
const read = (name: string): string => readFileSync(join(DEPLOY_FOLDER, name), 'utf8');
const { environment } = readDockerfile();

/** Settings that belong to the compose files and the proxies instead of the server. */
const PROXY_SETTINGS = ['ROCKPOOL_SITE', 'ROCKPOOL_UPSTREAM', 'ROCKPOOL_MEMORY'];

/** The files that an operator puts beside the compose files. */
const MADE = new Set([
  'schema.json',
  'secret',
  'postgres-password',
  'postgres.env',
  'certificate.pem',
  'certificate-key.pem',
]);

describe('the deployment files', () => {
  it.each(fileNames)('name only existing settings: %s', (name) => {
    const known = [...Object.keys(SERVE_SETTINGS).map(environmentName), ...PROXY_SETTINGS];
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

  it.each(['compose.yaml', 'compose.postgres.yaml'])(
    'put volume, schema and secret where the image looks for them, and leave space for sorting: %s',
    (name) => {
      const compose = read(name);
      expect(compose).toContain(`:${environment['ROCKPOOL_DATA']}`);
      expect(compose).toContain(`./schema.json:${environment['ROCKPOOL_SCHEMA']}:ro`);
      expect(environment['ROCKPOOL_SECRET_FILE']).toBe('/run/secrets/rockpool');
      expect(compose).toMatch(/secrets: \[rockpool\][\s\S]*\nsecrets:\n {2}rockpool:\n/);
      expect(compose).toMatch(new RegExp(`ports: \\["127\\.0\\.0\\.1:\\d+:${environment['ROCKPOOL_PORT']}"\\]`));
      // A read-only container without a tmpfs has no folder for the files of a large sort of SQLite.
      expect(compose.match(/read_only: true/g)?.length).toBe(compose.match(/tmpfs: \[\/tmp\]/g)?.length);
    },
  );

  it('run three instances, each with its own volume, under one name in compose.postgres.yaml', () => {
    const compose = read('compose.postgres.yaml');
    const names = [...compose.matchAll(/^ {2}(rockpool-\d):/gm)].map(([, name]) => name);
    expect(names).toEqual(['rockpool-1', 'rockpool-2', 'rockpool-3']);
    expect(new Set(compose.match(/working-copies-\d:\/data/g)).size).toBe(3);
    expect(compose).toContain('env_file: postgres.env');
    expect(compose).toContain('aliases: [rockpool]');
    expect(read('Caddyfile')).toContain('{$ROCKPOOL_UPSTREAM:rockpool}');
    expect(read('compose.nginx.yaml')).toContain('ROCKPOOL_UPSTREAM: rockpool');
  });

  it('name no version of pnpm, and name the port only once, in the Dockerfile', () => {
    const dockerfile = read('Dockerfile');
    expect(dockerfile).not.toMatch(/pnpm@\d/);
    expect(dockerfile.split('\n').filter((line) => !line.startsWith('#') && line.includes('4400'))).toEqual([
      'ARG PORT=4400',
    ]);
  });

  it('include every file that a compose file mounts, except those that an operator adds', () => {
    for (const name of fileNames.filter((file) => file.startsWith('compose'))) {
      const compose = read(name);
      for (const [, path = ''] of compose.matchAll(/[" :]\.\/([\w.-]+)/g))
        expect(fileNames.includes(path) || MADE.has(path), `${name}: ${path}`).toBe(true);
    }
  });

  it('keep the only server in service while its disk is full', () => {
    const readiness = (name: string): unknown =>
      /readinessProbe: .* path: (\S+),/.exec(read(`kubernetes/${name}`))?.[1];
    expect([readiness('one-server.yaml'), readiness('postgres.yaml')]).toEqual(['/health', '/ready']);
  });

  it('let systemd start the server again until it succeeds', () => {
    // By default, systemd gives up after five starts in 10 s.
    const [, seconds] = /^RestartSec=(\d+)$/m.exec(read('rockpool-server.service')) ?? [];
    expect(4 * Number(seconds)).toBeGreaterThan(10);
  });

  it('give the server the same memory in systemd, compose and Kubernetes', () => {
    expect(read('rockpool-server.service')).toContain('MemoryHigh=1600M\nMemoryMax=2G\n');
    for (const name of ['compose.yaml', 'compose.postgres.yaml'])
      expect(read(name)).toContain('mem_limit: ${ROCKPOOL_MEMORY:-2g}');
    for (const name of fileNames.filter((file) => file.startsWith('kubernetes')))
      expect(read(name)).toContain('requests: { cpu: "1", memory: 1600Mi }, limits: { memory: 2Gi }');
  });
});

const SYSTEMD = ['systemd-analyze', '--version'];
const COMPOSE = ['docker', 'compose', 'version'];
const KUBERNETES = ['kubernetes-validate', '--version'];

describe('the tools that read the deployment files', () => {
  it.skipIf(isMissing(SYSTEMD))('accept the unit and its protection: systemd-analyze', () => {
    const unit = join(DEPLOY_FOLDER, 'rockpool-server.service');
    expect(runTool(['systemd-analyze', 'verify', unit])).toEqual({ status: 0, output: '' });
    const { status } = runTool(['systemd-analyze', 'security', '--offline=true', '--threshold=20', unit]);
    expect(status).toBe(0);
  });

  it
    .skipIf(isMissing(COMPOSE))
    .each(
      ['compose.yaml', 'compose.postgres.yaml'].flatMap((servers) =>
        ['compose.caddy.yaml', 'compose.nginx.yaml'].map((proxy) => [servers, proxy]),
      ),
    )('accept %s with %s: docker compose', (servers, proxy) => {
    const folder = temporaryFolder();
    cpSync(DEPLOY_FOLDER, folder, { recursive: true });
    for (const name of MADE) writeFileSync(join(folder, name), '');
    const files = ['-f', join(folder, servers), '-f', join(folder, proxy)];
    expect(
      runTool(['docker', 'compose', ...files, 'config', '--quiet'], { ROCKPOOL_SITE: 'sync.example.org' }),
    ).toEqual({ status: 0, output: '' });
  });

  it.skipIf(isMissing(KUBERNETES)).each(fileNames.filter((file) => file.startsWith('kubernetes')))(
    'accept %s: kubernetes-validate',
    (name) => {
      expect(runTool(['kubernetes-validate', '--strict', '--quiet', join(DEPLOY_FOLDER, name)])).toEqual({
        status: 0,
        output: '',
      });
    },
  );
});
