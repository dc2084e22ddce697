import type { SyncServerOptions } from '../sync-server.ts';

/** The options that are groups of numbers, each with a default. */
const GROUPS = ['limits', 'snapshots', 'scrub', 'quotas', 'retention'] as const;

/**
 * Returns the options without the undefined numbers of their groups, which keep their defaults: spread over a default,
 * undefined would replace it, and no comparison with undefined exceeds a limit.
 */
export function withoutUndefinedNumbers(options: SyncServerOptions): SyncServerOptions {
  const groups = GROUPS.flatMap((group) => {
    const numbers = options[group];
    if (numbers === undefined) return [];
    return [[group, Object.fromEntries(Object.entries(numbers).filter(([, number]) => number !== undefined))]];
  });
  return { ...options, ...(Object.fromEntries(groups) as Pick<SyncServerOptions, (typeof GROUPS)[number]>) };
}

/**
 * Names every option that must be a number of at least 0 and is not, such as NaN, which no comparison exceeds either: a
 * host in JavaScript reads one from an unset environment variable.
 */
export function numberProblems(options: SyncServerOptions): string[] {
  const named: readonly (readonly [string, unknown])[] = [
    ...GROUPS.flatMap((group) =>
      Object.entries(options[group] ?? {}).map(([name, number]) => [`${group}.${name}`, number] as const),
    ),
    ['deliveryPartBytes', options.deliveryPartBytes],
    ['admin.maxImportBytes', options.admin?.maxImportBytes],
  ];
  return named
    .filter(([, number]) => number !== undefined && !(typeof number === 'number' && number >= 0))
    .map(([name]) => `${name} must be a number of at least 0`);
}
