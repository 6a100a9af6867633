#error spillway: bubblewrap: Can not mount: infrastructure failure, exit status 3
