import type { RockpoolError } from '@rockpool/shared';

/** Whether no further attempt helps before a person acts: loads a new version, decides, or signs in. */
export function needsPerson({ recovery }: RockpoolError): boolean {
  return ['upgrade', 'ask-user', 'reauthenticate'].includes(recovery);
}
