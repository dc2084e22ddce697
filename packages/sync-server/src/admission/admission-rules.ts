import type { Validate } from './validate.ts';
import type { Retention } from '../log/retention.ts';
import type { ForeignKeyChecks } from '../merge/foreign-keys.ts';

/** What holds for every push into a database. */
export interface AdmissionRules {
  readonly checks: ForeignKeyChecks;
  readonly retention: Retention;
  /** The app's own rule, where it has one. */
  readonly validate: Validate | null;
}
