/**
 * The table in which an app keeps names of versions. Its rows sync like any others; see
 * client/src/schema/version-name.ts.
 */
export const VERSION_NAME_TABLE = 'version_name';
