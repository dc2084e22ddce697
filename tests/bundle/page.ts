// The smallest app that uses everything of the client's page.
import { createClient, newId, RockpoolError, sql } from '../../packages/client/src/index.ts';

Object.assign(globalThis, { createClient, newId, RockpoolError, sql });
