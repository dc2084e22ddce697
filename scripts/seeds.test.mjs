import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import config, { nodeSetup } from '../vitest.config.ts';
import { root } from './children.mjs';
import { seedInEnvironment, seedOfThisRun } from './tests/seed.mjs';
import { sourceFiles } from './tests/test-files.mjs';

// `npm test` must give the same result twice: a test that draws fresh cases fails by chance, in a run that has nothing
// to do with the fault. Fresh cases are for `npm run verify`, which prints the seed.

/** A literal or a constant as the seed of a property. */
const FIXED = /(?:numRuns\b[^{}]*\bseed: (?:\d|[A-Z_]{2,})|\bseed: (?:\d[\d_]*|[A-Z_]{2,}),?\s*numRuns\b)/;
const DRAWN = /seed\w*\s*[=:][^;\n]*(?:Date\.now|Math\.random|random(?:Bytes|Int|UUID)|getRandomValues|performance\.)/i;

describe('the seed of a run', () => {
  it('is fixed at the level test', () => {
    expect(new Set(Array.from({ length: 20 }, () => seedOfThisRun('test', ''))).size).toBe(1);
  });

  it.each(/** @type {const} */ (['verify', 'deep']))('is fresh at the level %s', (level) => {
    expect(new Set(Array.from({ length: 20 }, () => seedOfThisRun(level, ''))).size).toBeGreaterThan(15);
  });

  it('is ROCKPOOL_SEED at every level, if that is set', () => {
    for (const level of /** @type {const} */ (['test', 'verify', 'deep'])) expect(seedOfThisRun(level, '77')).toBe(77);
    for (const wrong of ['-1', '1.5', 'x', String(2 ** 30)])
      expect(() => seedOfThisRun('test', wrong)).toThrow('ROCKPOOL_SEED is');
  });

  it('is part of the command that repeats a failure, unless every run has that seed', () => {
    expect(seedInEnvironment(seedOfThisRun('test', ''), 'test')).toBe('');
    expect(seedInEnvironment(77, 'test')).toBe('ROCKPOOL_SEED=77 ');
    expect(seedInEnvironment(1, 'verify')).toBe('ROCKPOOL_SEED=1 ');
  });
});

describe('randomness in tests', () => {
  it('follows from the seed in every Node project', () => {
    const projects = (config.test?.projects ?? []).map((project) =>
      typeof project === 'object' && 'test' in project ? project.test : undefined,
    );
    const inNode = projects.filter((project) => project?.browser === undefined);
    expect(inNode.length).toBeGreaterThan(5);
    for (const project of inNode) expect(project?.setupFiles, JSON.stringify(project?.name)).toBe(nodeSetup);
    for (const project of projects) expect(project?.provide, JSON.stringify(project?.name)).toHaveProperty('seed');
  });

  // The set-up gives fast-check its seed in Node, and a seed of a test's own draws the same cases at every level.
  const TEST = /(\.test\.tsx?|\.contract\.ts)$|\/testing\/|^tests\//;
  const tests = sourceFiles()
    .filter((file) => TEST.test(file))
    .map((file) => ({ file, source: readFileSync(join(root, file), 'utf8') }));

  it('uses no other seed in properties, except for recorded seeds', () => {
    /** @type {Record<string, string>} */
    const allowed = {
      'packages/shared/src/protocol/protocol-version.test.ts': 'the messages of a released version',
    };
    const fixed = tests.filter(({ source }) => FIXED.test(source)).map(({ file }) => file);
    expect(fixed).toEqual(Object.keys(allowed));
  });

  it('comes from no clock and from no random source of the platform', () => {
    expect(tests.filter(({ source }) => DRAWN.test(source)).map(({ file }) => file)).toEqual([]);
  });

  it('is not used by any property in Chromium, where fast-check would draw its own seed', () => {
    expect(
      tests.filter(({ file, source }) => file.includes('.browser.test.') && source.includes("'fast-check'")),
    ).toEqual([]);
  });

  it.each(['{ numRuns: 400, seed: 1 }', '{ seed: SEED, numRuns: 1_000 }'])('detects the fixed seed %s', (line) => {
    expect(FIXED.test(line)).toBe(true);
  });

  it.each([
    'const seed = Date.now() % 100_000;',
    'const FIRST_SEED = Number(x ?? Math.floor(Date.now() / 86_400_000) * 10_000);',
    'run({ seed: Math.random() * 100 });',
    'const seed = randomBytes(4).readUInt32LE(0);',
  ])('detects the drawn seed %s', (line) => {
    expect(DRAWN.test(line)).toBe(true);
  });
});
