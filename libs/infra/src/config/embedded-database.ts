/** Name of the service's database in the embedded server. With DATABASE_URL, the URL names it. */
export const EMBEDDED_DATABASE = 'service';
