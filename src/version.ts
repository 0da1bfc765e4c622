import packageJson from '../package.json' with { type: 'json' };

/** The name and version of this package. */
export const NAME: string = packageJson.name;
export const VERSION: string = packageJson.version;
