import { ERROR_CODES, messageOf, recoveryOf } from '../../packages/shared/src/errors/error-codes.ts';
import { ERROR_GROUPS } from './error-remedies.mjs';

/** @type {Record<import('../../packages/shared/src/errors/error-codes.ts').Recovery, string>} */
const RECOVERIES = {
  retry: 'The same call may succeed later. Sync retries by itself.',
  rebase: 'Newer state is needed first. Sync fetches it and tries again by itself.',
  reauthenticate: 'Get a new token, or let the user sign in.',
  upgrade: 'Load a newer version of the app, or update the server.',
  'free-space': 'Make room on the device.',
  'ask-user': 'A person has to decide or to correct the input.',
  bug: 'A fault in Rockpool or in the code that calls it. If it is in Rockpool, report it with `code`, `fields` and the version.',
};

/** docs/errors.md: each code with its cause, its recovery and its remedy. Throws unless every code is listed once. */
export function errorPage() {
  const listed = ERROR_GROUPS.flatMap(([, remedies]) => Object.keys(remedies));
  const wrong = [...ERROR_CODES, ...listed].filter(
    (code) => !ERROR_CODES.some((known) => known === code) || listed.filter((other) => other === code).length !== 1,
  );
  if (wrong.length > 0)
    throw new Error(`error-remedies.mjs must list each of these codes once: ${[...new Set(wrong)].join(', ')}`);
  const groups = ERROR_GROUPS.map(([title, remedies]) => {
    const entries = Object.entries(remedies).map(([code, remedy]) => {
      const known = /** @type {import('../../packages/shared/src/errors/error-codes.ts').ErrorCode} */ (code);
      return `### \`${code}\` {#${code}}\n\n${messageOf(known)}\n\n**${recoveryOf(known)}** · ${remedy}\n`;
    });
    return `## ${title}\n\n${entries.join('\n')}`;
  });
  return `# Error codes

Every failure is a \`RockpoolError\`. \`code\` is one of the ${ERROR_CODES.length} codes below; it never changes its meaning. \`recovery\` is the family of
remedies. \`fields\` has names, numbers and counts, and never a value of a row.

| recovery | what helps |
|---|---|
${Object.entries(RECOVERIES)
  .map(([recovery, meaning]) => `| \`${recovery}\` | ${meaning} |`)
  .join('\n')}

Errors arrive where they belong: a call rejects with its own, \`client.status.reason\` has the one that sync waits for, and \`onError\` gets
those that no call waits for.

${groups.join('\n')}`;
}
