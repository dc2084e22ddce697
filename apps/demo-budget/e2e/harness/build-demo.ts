import { buildDemo } from '../../../../scripts/demo-build.mjs';

/** Builds the app before the first spec, unless the build is up to date with the sources. */
export default async function globalSetup(): Promise<void> {
  await buildDemo();
}
