/** The version of the package. */
export const SERVER_VERSION = '0.1.0';
