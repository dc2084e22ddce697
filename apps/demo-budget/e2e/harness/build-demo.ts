import { buildDemo } from '../../../../scripts/demo-build.mjs';

/** Before the first spec: builds the app, unless what is built is what the sources say. */
export default async function globalSetup(): Promise<void> {
  await buildDemo();
}
