/** Resolves with the bytes of a file in base64, as the control plane takes them. */
export function toBase64(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Error('The browser could not read the file.'));
    reader.readAsDataURL(file);
  });
}
