/** Read access to request headers by case-insensitive name; the values of a repeated header are joined by commas. */
export type HeaderReader = Pick<Headers, 'get'>;
