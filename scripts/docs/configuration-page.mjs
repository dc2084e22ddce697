import {
  DATABASES_SETTINGS,
  DATA_SETTINGS,
  DOCTOR_SETTINGS,
  MOVE_SETTINGS,
  RESTORE_SETTINGS,
  SERVE_SETTINGS,
  TOKEN_SETTINGS,
} from '../../packages/sync-server/src/cli/config.ts';
import { environmentName } from '../../packages/sync-server/src/cli/settings.ts';
import { RETENTION } from '../../packages/sync-server/src/log/retention.ts';
import { SESSION_LIMITS } from '../../packages/sync-server/src/session/limits.ts';
import { SNAPSHOT_RULES } from '../../packages/sync-server/src/snapshot/snapshots.ts';
import { SCRUB_TIMES } from '../../packages/sync-server/src/store/scrub.ts';
import { findInFolder, memberTable } from './declarations.mjs';

/** @typedef {import('../../packages/sync-server/src/cli/settings.ts').Settings} Settings */

const SHAPES = { text: ' VALUE', list: ' VALUE', nothing: '' };

/** @param {Settings} settings */
function settingsTable(settings) {
  const rows = Object.entries(settings).map(([name, { takes, help, secret }]) => {
    const flag = secret === true ? '' : `\`--${name}${SHAPES[takes]}\`<br>`;
    const inEnvironment = takes === 'list' ? '; the environment takes a list separated by commas' : '';
    return `| ${flag}\`${environmentName(name)}\` | ${help}${inEnvironment} |`;
  });
  return ['| flag, environment | meaning |', '|---|---|', ...rows].join('\n');
}

/**
 * @param {string} name of an interface
 * @param {object} [defaults]
 */
const optionsTable = (name, defaults) =>
  memberTable(findInFolder('packages/sync-server/src', name).members, defaults && { ...defaults });

/** docs/configuration.md: the settings of the command, and the options of `createSyncServer`. */
export function configurationPage() {
  return `# Configuration

Every setting of \`rockpool-server\` is a flag, an environment variable, or a member of the JSON file that \`--config FILE\` names. A flag wins over
the environment, the environment over the file. The command reports all problems of an invalid configuration at once. Durations are a number and
\`s\`, \`m\`, \`h\` or \`d\`. [Run the server](server.md) explains how the settings work together. Other
commands accept the file of the server, and ignore what only the server uses.

## \`rockpool-server\`

${settingsTable(SERVE_SETTINGS)}

## \`rockpool-server token\`

${settingsTable(TOKEN_SETTINGS)}

## \`rockpool-server databases\`

${settingsTable(DATABASES_SETTINGS)}

## \`rockpool-server members\`, \`backup\`

${settingsTable(DATA_SETTINGS)}

\`backup\` takes only \`--data\`: back up PostgreSQL with its own tools. \`verify DIR\` has no settings.

## \`rockpool-server restore\`

${settingsTable(RESTORE_SETTINGS)}

## \`rockpool-server move\`

${settingsTable(MOVE_SETTINGS)}

## \`rockpool-server doctor\`

${settingsTable(DOCTOR_SETTINGS)}

${optionsOfProgram()}`;
}

/** The options of `createSyncServer`, and of the objects among them. */
function optionsOfProgram() {
  return `## \`createSyncServer\`

The options of the server inside a program of your own.

${optionsTable('SyncServerOptions')}

### \`retention\`

${optionsTable('Retention', RETENTION)}

### \`limits\`

${optionsTable('SessionLimits', SESSION_LIMITS)}

### \`quotas\`

${optionsTable('Quotas')}
${optionsTable('MemberLimits').split('\n').slice(2).join('\n')}

### \`backup\`

${optionsTable('BackupPlace')}
${optionsTable('BackupRules').split('\n').slice(2).join('\n')}

### \`admin\`

${optionsTable('AdminAccess')}

### \`nats\`

${optionsTable('NatsOptions')}

### \`snapshots\`

${optionsTable('SnapshotRules', SNAPSHOT_RULES)}

### \`scrub\`

${optionsTable('ScrubTimes', SCRUB_TIMES)}
`;
}
