/** The path under which the control plane lives. */
export const CONTROL_PATH = '/__mock';
