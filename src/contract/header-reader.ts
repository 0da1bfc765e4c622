/** The headers of a request, by name in any letter case; a repeated header comes joined by commas. */
export type HeaderReader = Pick<Headers, 'get'>;
