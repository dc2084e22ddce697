import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { namedEntry } from './named-entry.ts';

/** A setting, which comes from a flag, else from the environment, else from the file that `--config` names. */
export interface Setting {
  readonly takes: 'text' | 'list' | 'nothing';
  readonly help: string;
  /** Not accepted on the command line, which every user of the machine can read. */
  readonly secret?: boolean;
}

export type Settings = Readonly<Record<string, Setting>>;

export interface ParsedSettings {
  /** Returns an empty string if the setting is missing. */
  text(name: string): string;
  /** Reports a problem if the setting is missing. */
  required(name: string): string;
  list(name: string): readonly string[];
  has(name: string): boolean;
  /** Whether the setting is a flag of the command line. */
  isFlag(name: string): boolean;
  readonly positionals: readonly string[];
}

export interface Sources {
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Settings that the file may have although the command does not use them, because commands share the file. */
  readonly otherSettings?: Settings;
}

/** `secret-file` becomes `ROCKPOOL_SECRET_FILE`. */
export function environmentName(setting: string): string {
  return `ROCKPOOL_${setting.toUpperCase().replaceAll('-', '_')}`;
}

/**
 * Reads settings from all sources. Adds every problem to `problems`, one sentence each, so that the user sees all of
 * them at once.
 */
export function readSettings(settings: Settings, sources: Sources, problems: string[]): ParsedSettings {
  const { flags, environment, otherSettings = {} } = sources;
  const fromFlags = parseFlags(settings, flags, problems);
  const file = fromFlags.values['config'] ?? environment[environmentName('config')] ?? '';
  problems.push(...environmentProblems(settings, environment));
  const fromFile =
    typeof file === 'string' && file !== '' ? parseFile({ ...otherSettings, ...settings }, file, problems) : {};
  const find = (name: string): unknown =>
    fromFlags.values[name] ?? fromEnvironment(settings, name, environment) ?? fromFile[name];
  const text = (name: string): string => {
    const value = find(name);
    return typeof value === 'string' ? value : '';
  };
  return {
    text,
    required(name) {
      const value = text(name);
      if (value === '' && !problems.includes(`--${name} needs a value`)) problems.push(`--${name} is missing`);
      return value;
    },
    list: (name) => [find(name) ?? []].flat().filter((value) => typeof value === 'string'),
    has: (name) => find(name) === true,
    isFlag: (name) => fromFlags.values[name] !== undefined,
    positionals: fromFlags.positionals,
  };
}

function parseFlags(
  settings: Settings,
  flags: readonly string[],
  problems: string[],
): { readonly values: Record<string, unknown>; readonly positionals: readonly string[] } {
  const options = Object.fromEntries(
    Object.entries({ ...settings, config: CONFIG }).flatMap(([name, { takes, secret }]) =>
      secret === true
        ? []
        : [
            [
              name,
              {
                type: takes === 'nothing' ? ('boolean' as const) : ('string' as const),
                multiple: true,
                isList: takes === 'list',
              },
            ],
          ],
    ),
  );
  // Not strict, so that an unknown flag does not hide other problems.
  const { values, positionals } = parseArgs({ args: [...flags], options, strict: false, allowPositionals: true });
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const option = namedEntry(options, name);
    const given = [value].flat();
    if (option === undefined) problems.push(`unknown setting --${name}`);
    else if (option.type === 'boolean' && given.some((one) => one !== true)) problems.push(`--${name} takes no value`);
    else if (option.type === 'string' && given.some((one) => typeof one !== 'string' || one === ''))
      problems.push(`--${name} needs a value`);
    // The last value would count, and the others would be ignored: one of two databases, for example.
    else if (given.length > 1 && !option.isList) problems.push(`--${name} is given ${given.length} times`);
    else known[name] = option.isList ? given : given[0];
  }
  return { values: known, positionals };
}

const CONFIG: Setting = { takes: 'text', help: 'a JSON file with the settings below' };

const ON: ReadonlySet<string> = new Set(['1', 'true']);
const OFF: ReadonlySet<string> = new Set(['0', 'false', '']);

function environmentProblems(settings: Settings, environment: Sources['environment']): string[] {
  return Object.entries(settings).flatMap(([name, { takes }]) => {
    const value = environment[environmentName(name)] ?? '';
    return takes !== 'nothing' || ON.has(value) || OFF.has(value) ? [] : [`${environmentName(name)} takes 1 or 0`];
  });
}

function fromEnvironment(settings: Settings, name: string, environment: Sources['environment']): unknown {
  const value = environment[environmentName(name)];
  if (value === undefined || value === '') return undefined;
  switch (settings[name]?.takes) {
    case 'list':
      return value.split(',').map((part) => part.trim());
    case 'nothing':
      return ON.has(value);
    default:
      return value;
  }
}

function parseFile(settings: Settings, path: string, problems: string[]): Record<string, unknown> {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    problems.push(`--config: ${path} cannot be read as JSON`);
    return {};
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    problems.push(`--config: ${path} is not a JSON object`);
    return {};
  }
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(content)) {
    const setting = namedEntry(settings, name);
    const fits =
      setting?.takes === 'list'
        ? Array.isArray(value) && value.every((one) => typeof one === 'string')
        : setting?.takes === 'nothing'
          ? typeof value === 'boolean'
          : typeof value === 'string' || typeof value === 'number';
    if (setting === undefined) problems.push(`--config: unknown setting ${name}`);
    else if (!fits) problems.push(`--config: ${name} has the wrong type (expected ${setting.takes})`);
    else known[name] = typeof value === 'number' ? String(value) : value;
  }
  return known;
}

/** Formats one line per setting, for `--help`. */
export function settingsHelp(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, { takes, help, secret }]) => {
      const flag =
        secret === true
          ? environmentName(name)
          : `--${name}${takes === 'nothing' ? '' : takes === 'list' ? ' VALUE…' : ' VALUE'}`;
      return `  ${flag.padEnd(26)} ${help}\n`;
    })
    .join('');
}
