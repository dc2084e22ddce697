import type { Validate } from './validate.ts';
import type { Quotas, Room } from './quotas.ts';
import type { Retention } from '../log/retention.ts';
import type { ForeignKeyChecks } from '../merge/foreign-keys.ts';

/** The rules for every push into one database. */
export interface AdmissionRules {
  readonly checks: ForeignKeyChecks;
  readonly retention: Retention;
  readonly quotas: Quotas;
  readonly room: Room;
  /**
   * Changesets that failed repeatedly, by `changesetName`, with the number of attempts. They are rejected. Default:
   * none.
   */
  readonly failed?: ReadonlyMap<string, number>;
  /** The app's own rule; null for none. */
  /**
   * The time in ms after which a commit takes no more changesets, so that other databases of the thread are served.
   * Default: unlimited.
   */
  readonly turnMs?: number | undefined;
  readonly validate: Validate | null;
}

export function changesetName(site: string, sequence: number): string {
  return `${site}:${sequence}`;
}
