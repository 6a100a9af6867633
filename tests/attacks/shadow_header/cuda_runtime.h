#error the header of the submission was used
