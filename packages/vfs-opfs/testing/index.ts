export { crashImages, seededRandom } from './crash-images.ts';
export type { CrashImage, Survivors } from './crash-images.ts';
export type { Random } from './torn-write.ts';
export type { DiskCall, DiskFault, PlannedCall } from './disk-call.ts';
export { SimulatedDisk } from './simulated-disk.ts';
export type { SimulatedDiskOptions, SimulatedMedium, SimulatedMediumOptions } from './simulated-disk.ts';
export { SimulatedExtents } from './simulated-extents.ts';
export type { BatchOutcome, SimulatedExtentMedium, SimulatedExtentsOptions } from './simulated-extents.ts';
export { changedPieces } from './changed-pieces.ts';
