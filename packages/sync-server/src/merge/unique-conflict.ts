import type { RockpoolError, UniqueRule } from '@rockpool/shared';

/**
 * A row of a changeset takes a unique value that another row has: what its table says about that. Throws what rejects
 * the changeset.
 */
export function decideUniqueConflict(rule: UniqueRule, rejection: RockpoolError): never {
  switch (rule) {
    case 'reject':
      throw rejection;
  }
}
