import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** One thing that can be configured: by flag, else by environment, else in the file that `--config` names. */
export interface Setting {
  readonly takes: 'text' | 'list' | 'nothing';
  readonly help: string;
  /** Not from the command line, which every user of the machine can read. */
  readonly secret?: boolean;
}

export type Settings = Readonly<Record<string, Setting>>;

export interface ParsedSettings {
  /** Empty where it is not given. */
  text(name: string): string;
  /** Reports a problem where it is not given. */
  required(name: string): string;
  list(name: string): readonly string[];
  has(name: string): boolean;
  readonly positionals: readonly string[];
}

export interface Sources {
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** `secret-file` → `ROCKPOOL_SECRET_FILE`. */
export function environmentName(setting: string): string {
  return `ROCKPOOL_${setting.toUpperCase().replaceAll('-', '_')}`;
}

/**
 * Reads settings from all places. What is wrong is added to `problems`, one sentence each, so that a person is told all
 * of it at once.
 */
export function readSettings(settings: Settings, { flags, environment }: Sources, problems: string[]): ParsedSettings {
  const fromFlags = parseFlags(settings, flags, problems);
  const file = fromFlags.values['config'] ?? environment[environmentName('config')];
  const fromFile = typeof file === 'string' ? parseFile(settings, file, problems) : {};
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
              { type: takes === 'nothing' ? ('boolean' as const) : ('string' as const), multiple: takes === 'list' },
            ],
          ],
    ),
  );
  // Not strict, so that one unknown flag does not hide what else is wrong.
  const { values, positionals } = parseArgs({ args: [...flags], options, strict: false, allowPositionals: true });
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const option = options[name];
    if (option === undefined) problems.push(`--${name} is not known`);
    else if (option.type === 'string' && [value].flat().some((one) => typeof one !== 'string' || one === ''))
      problems.push(`--${name} needs a value`);
    else known[name] = value;
  }
  return { values: known, positionals };
}

const CONFIG: Setting = { takes: 'text', help: 'a JSON file with the settings that follow' };

function fromEnvironment(settings: Settings, name: string, environment: Sources['environment']): unknown {
  const value = environment[environmentName(name)];
  if (value === undefined || value === '') return undefined;
  switch (settings[name]?.takes) {
    case 'list':
      return value.split(',').map((part) => part.trim());
    case 'nothing':
      return value === '1' || value === 'true';
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
    const setting = settings[name];
    const fits =
      setting?.takes === 'list'
        ? Array.isArray(value) && value.every((one) => typeof one === 'string')
        : setting?.takes === 'nothing'
          ? typeof value === 'boolean'
          : typeof value === 'string' || typeof value === 'number';
    if (setting === undefined) problems.push(`--config: ${name} is not known`);
    else if (!fits) problems.push(`--config: ${name} is not what it takes (${setting.takes})`);
    else known[name] = typeof value === 'number' ? String(value) : value;
  }
  return known;
}

/** A line per setting, for `--help`. */
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
