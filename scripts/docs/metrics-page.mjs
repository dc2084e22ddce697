import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../children.mjs';
import { EVENTS_BY_CODE, LOG_EVENTS } from './log-events.mjs';

const SOURCES = join(root, 'packages/sync-server/src');

/**
 * docs/operations/metrics-and-log.md: every metric, and every event of the log. Throws unless every event is listed
 * once.
 */
export function metricsPage() {
  const sources = globSync('**/*.ts', { cwd: SOURCES, exclude: (name) => /\.(test|contract)\.ts$/.test(name) })
    .sort()
    .map((path) => readFileSync(join(SOURCES, path), 'utf8'));
  const metrics = sources
    .flatMap((text) => [...text.matchAll(METRIC)].map(metricOf))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const listed = LOG_EVENTS.flatMap(([, events]) => Object.keys(events));
  const logged = new Set([
    ...EVENTS_BY_CODE,
    ...sources.flatMap((text) => [...text.matchAll(EVENT)].map(([, name = '']) => name)),
  ]);
  const wrong = [...logged, ...listed].filter(
    (event) => !logged.has(event) || listed.filter((other) => other === event).length !== 1,
  );
  if (wrong.length > 0)
    throw new Error(`log-events.mjs must list each of these events once: ${[...new Set(wrong)].join(', ')}`);
  return `# Metrics and log events

[Monitor](../server.md#monitor) describes where the server serves its metrics and writes its log, and who may read them.

## Metrics

\`GET /metrics\` has these metrics. Alert rules and a dashboard are in \`deploy/\` of the package. Metrics about PostgreSQL, shards and threads
exist only with these; those of the continuous backup and of the bus are 0 (\`rockpool_bus_connected\`: 1) without them.

| metric | type | meaning |
|---|---|---|
${metrics.map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`).join('\n')}

## Log events

Each line of the log has \`time\` (UTC), \`event\` and the fields of the event. Lines about failures have \`code\`, which is an
[error code](../errors.md), and what the server knows about the cause: \`name\`, \`sqliteCode\`, \`systemCode\`, \`problem\`, and \`at\`, the place in
the code.

${LOG_EVENTS.map(
  ([title, events]) =>
    `### ${title}\n\n| event | meaning |\n|---|---|\n${Object.entries(events)
      .map(([event, meaning]) => `| \`${event}\` | ${meaning} |`)
      .join('\n')}\n`,
).join('\n')}`;
}

const METRIC =
  /(Counter|Histogram|\bgauge|\bcounter|gaugeOf|tenantGauge)\(\s*'(rockpool_[a-z0-9_]+)',\s*'((?:[^'\\]|\\.)+)'/g;

const EVENT = /\b(?:log|logChange|logToStderr)\(\s*(?:\w+, |\{[^}]*\}, )?'([a-z-]+)'/g;

/** @type {Record<string, string>} */
const TYPES = { Counter: 'counter', counter: 'counter', Histogram: 'histogram' };

/** @param {RegExpMatchArray} match */
function metricOf([, kind = '', name = '', help = '']) {
  return { name, type: TYPES[kind] ?? 'gauge', help };
}
