import { RockpoolError } from '@rockpool/shared';
import { loadPart } from '../../load-part.ts';

type MigrationCode = typeof import('./run-migrations.ts');

let loaded: MigrationCode | null = null;

/** Loads the code that runs migrations, once. Await it before opening a database with migrations. */
export async function loadMigrationCode(): Promise<void> {
  loaded ??= await loadPart('migrations', () => import('./run-migrations.ts'));
}

/** The loaded code. Call it only for an app with migrations. */
export function migrationCode(): MigrationCode {
  if (loaded === null) throw new RockpoolError('internal', { problem: 'the code for migrations is not loaded' });
  return loaded;
}
